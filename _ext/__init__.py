"""The Sphinx extensions of this book, and the script that builds it."""
