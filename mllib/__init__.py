"""The library of the book *Machine Learning You Can Check*: one module per chapter."""

__version__ = "0.1.0"
