"""What prints the book into one file, and reads that file again."""
