"""The pins agree with each other, and all of them can be installed, built, wherever the book goes.

``uv.lock`` lists the files of each package, so no registry is asked.
"""

import re
import tomllib
from pathlib import Path

import pytest
from packaging import tags
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
LOCK = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: Linux with glibc 2.28 (Debian 10, Ubuntu 18.10 and all that came later), on arm64 with 2.38
#: (Debian 13, Ubuntu 24.04), macOS 14, Windows.
LINUX = [f"manylinux_2_{minor}" for minor in range(28, 4, -1)]
LINUX += ["manylinux2014", "manylinux2010", "manylinux1"]
SYSTEMS = {
    ("linux", "x86_64"): [f"{name}_x86_64" for name in LINUX],
    ("linux", "aarch64"): [f"{name}_aarch64" for name in ["manylinux_2_38", *LINUX]],
    ("darwin", "arm64"): list(tags.mac_platforms((14, 0), "arm64")),
    ("win32", "AMD64"): ["win_amd64"],
}


def pinned(name):
    """Return the requirements of a file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


PINS = pinned("requirements.txt")
FILES = {
    package["name"]: [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", [])]
    for package in LOCK["package"]
}


def needed(version, system, machine):
    """Return the pins that this version of Python installs on this machine."""
    there = {"python_version": version, "python_full_version": f"{version}.1"}
    there |= {"sys_platform": system, "platform_machine": machine}
    there |= {"os_name": "nt" if system == "win32" else "posix", "implementation_name": "cpython"}
    return [pin for pin in PINS if pin.marker is None or pin.marker.evaluate(there)]


def test_requirements_are_the_lock_and_binder_is_a_part_of_it():
    locked = {p["name"]: p["version"] for p in LOCK["package"] if "registry" in p["source"]}
    assert {canonicalize_name(p.name): str(p.specifier)[2:] for p in PINS} == locked
    everything = {(pin.name, pin.specifier) for pin in PINS}
    assert {(p.name, p.specifier) for p in pinned("binder/requirements.txt")} <= everything


def test_the_lock_was_made_from_these_groups():
    (ours,) = (p for p in LOCK["package"] if p["name"] == ABOUT["project"]["name"])
    asked = ours["metadata"]["requires-dev"]
    table = ABOUT["dependency-groups"]
    assert set(asked) == set(table)

    def names(group):
        for need in table[group]:
            if isinstance(need, str):
                yield canonicalize_name(Requirement(need).name)
            else:
                yield from names(need["include-group"])

    for group, needs in asked.items():
        assert {need["name"] for need in needs} == set(names(group)), group
    assert LOCK["requires-python"] == ABOUT["project"]["requires-python"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("system", SYSTEMS, ids=" ".join)
def test_every_pin_has_a_wheel(version, system):
    platforms, python = SYSTEMS[system], tuple(map(int, version.split(".")))
    fits = {
        *tags.cpython_tags(python, platforms=platforms, abis=[f"cp{version.replace('.', '')}"]),
        *tags.compatible_tags(python, f"cp{version.replace('.', '')}", platforms),
    }
    missing = [
        pin.name
        for pin in needed(version, *system)
        if not any(fits & parse_wheel_filename(file)[3] for file in FILES[pin.name])
    ]
    assert missing == []


def test_markers_leave_out_only_what_has_no_use_or_no_wheel():
    everything = {pin.name for pin in PINS}
    left_out = {
        (version, system): everything - {pin.name for pin in needed(version, system, machine)}
        for version in VERSIONS
        for system, machine in SYSTEMS
    }
    shells = {"pexpect", "ptyprocess"}
    foreign = {"linux": {"appnope", "colorama", "pywinpty"}, "darwin": {"colorama", "pywinpty"}}
    foreign["win32"] = {"appnope", *shells}
    for (version, system), names in left_out.items():
        newer = {"hmmlearn"} if version == "3.14" else set()
        newer |= set() if version == "3.11" else {"overrides"}
        assert names == foreign[system] | newer, (version, system)


def test_all_places_name_the_same_versions_of_python():
    allowed = SpecifierSet(ABOUT["project"]["requires-python"])
    assert all(version in allowed for version in VERSIONS)
    assert "3.10" not in allowed
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {VERSIONS[0]} to {VERSIONS[-1]}" in readme
    book = (ROOT / "book.py").read_text(encoding="utf-8")
    oldest, newest = re.search(r"OLDEST, NEWEST = \(3, (\d+)\), \(3, (\d+)\)", book).groups()
    assert [f"3.{oldest}", f"3.{newest}"] == [VERSIONS[0], VERSIONS[-1]]
