"""Finish a built site."""


def site(folder):
    pass
