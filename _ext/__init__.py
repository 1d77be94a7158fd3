"""The Sphinx extensions of this book, and the scripts that build, serve and print it."""
