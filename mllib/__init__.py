"""The library of *Machine Learning You Can Check*: one module per chapter, and some for all."""

__version__ = "0.1.0"
