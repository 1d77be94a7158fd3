"""Old names work for one version and say what to use instead; then they are gone."""

import importlib
import pkgutil
import warnings

import pytest

import mllib
from mllib.core.deprecation import deprecated


@deprecated("new", gone="0.9")
def old(x, *, y=1):
    """Add."""
    return x + y


class Model:
    @deprecated("Model.fit", gone="0.9")
    def train(self):
        return self


def test_an_old_name_works_and_names_its_successor_where_it_is_called():
    with pytest.warns(DeprecationWarning, match=r"old goes with mllib 0\.9: use new\.") as caught:
        assert old(2, y=3) == 5
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"Model\.train goes"):
        assert isinstance(Model().train(), Model)
    assert (old.__name__, old.__doc__) == ("old", "Add.")


def test_other_names_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Model()


def number(version):
    return tuple(map(int, version.split(".")[:2]))


def test_no_old_name_has_outlived_its_version():
    assert number("0.10") > number("0.9")
    for info in pkgutil.walk_packages(mllib.__path__, "mllib."):
        module = importlib.import_module(info.name)
        for thing in vars(module).values():
            for one in (thing, *vars(thing).values()) if isinstance(thing, type) else (thing,):
                gone = getattr(one, "gone", None)
                if isinstance(gone, str):
                    assert number(gone) > number(mllib.__version__), (info.name, one)
