"""What `make` installs is there, built, for every Python that the book supports: 3.11 to 3.14.

No interpreter of that version is needed: pip only asks a registry which wheels it has. Where none
answers the tests are left out by name; try again with

    .venv/bin/python -m pytest -p no:nbval tests/project/test_installing.py
"""

import platform
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
#: Linux with glibc 2.17 to 2.28 (Debian 10, Ubuntu 18.10 and all that came later).
PLATFORMS = [f"manylinux_2_{minor}_{MACHINE}" for minor in range(28, 16, -1)]
PLATFORMS += [f"manylinux{name}_{MACHINE}" for name in ("2014", "2010", "1")]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "1", "--timeout"]
AGAIN = ".venv/bin/python -m pytest -p no:nbval tests/project/test_installing.py"


def requirements():
    """Return the requirements of the whole environment."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def needed(version, machine=MACHINE):
    """Return the pins that this version of Python installs on Linux, markers resolved.

    pip resolves them for the Python that runs it, not for the one it is asked about.
    """
    there = {"python_version": version, "python_full_version": f"{version}.0"}
    there |= {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine}
    return [
        f"{pin.name}{pin.specifier}"
        for pin in requirements()
        if pin.marker is None or pin.marker.evaluate(there)
    ]


def wheels(version, pins, folder, seconds):
    """Let pip look for wheels of these pins; return what it says, or None if it is pleased."""
    where = [part for name in PLATFORMS for part in ("--platform", name)]
    command = [*PIP, "15", "install", "--dry-run", "--quiet", "--no-deps", "--target", str(folder)]
    command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", version]
    try:
        done = subprocess.run(
            [*command, *where, *pins], capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds} s"
    said = "\n".join(line for line in done.stderr.splitlines() if line.startswith("ERROR"))
    return (said or done.stderr[-2000:]) if done.returncode else None


def installed(pin):
    """Return what is installed of a pin, or None where a marker leaves it out here."""
    try:
        return metadata.distribution(Requirement(pin).name)
    except metadata.PackageNotFoundError:
        return None


def is_pure(pin):
    """Whether the wheel of a pin is the same file for every Python and every machine."""
    found = installed(pin)
    return found is not None and "none-any" in (found.read_text("WHEEL") or "")


@pytest.mark.parametrize("version", VERSIONS)
def test_no_pin_asks_for_a_newer_python(version):
    for pin in needed(version):
        if found := installed(pin):
            allowed = SpecifierSet(found.metadata.get("Requires-Python") or "")
            assert f"{version}.0" in allowed, f"{pin} needs Python {allowed}"


def test_every_compiled_pin_has_a_wheel_for_every_python(tmp_path):
    if wheels("3.11", [next(filter(is_pure, needed("3.11")))], tmp_path, 40):
        pytest.skip(f"no package registry answers; try again with {AGAIN}")
    pins = {v: [pin for pin in needed(v) if not is_pure(pin)] for v in VERSIONS}
    with ThreadPoolExecutor(len(VERSIONS)) as pool:
        said = pool.map(lambda version: wheels(version, pins[version], tmp_path, 150), VERSIONS)
        faults = {version: fault for version, fault in zip(VERSIONS, said) if fault}
    if any(fault.startswith("no answer") for fault in faults.values()):
        pytest.skip(f"the package registry is slow: {faults}; try again with {AGAIN}")
    assert faults == {}


def test_markers_leave_out_only_what_has_no_wheel():
    everything = {pin.name for pin in requirements()}
    left_out = {
        v: everything - {re.split("[=<>~]", p)[0] for p in needed(v, "x86_64")} for v in VERSIONS
    }
    assert left_out == {"3.11": set(), "3.12": set(), "3.13": set(), "3.14": {"hmmlearn"}}


def test_all_places_name_the_same_versions_of_python():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = SpecifierSet(about["requires-python"])
    assert all(version in allowed for version in VERSIONS)
    assert "3.10" not in allowed
    assert "Python 3.11 or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
