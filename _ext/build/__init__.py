"""What serves the book: the build and its server, live cells, notebooks executed again."""
