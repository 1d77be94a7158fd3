"""Do nothing twice: what was made of a file or of a text is kept until it changes."""

import functools
import hashlib
from pathlib import Path

import yaml

#: The loader of YAML in C, ten times as quick, where it is there.
QUICK = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def once(read):
    """Keep what ``read(path)`` returned for as long as the file has its time and size.

    Every caller gets the same object, so nobody may change it.
    """
    kept = {}

    @functools.wraps(read)
    def of(path):
        path = Path(path)
        about = path.stat()
        stamp = (about.st_mtime_ns, about.st_size)
        if kept.get(path, (None,))[0] != stamp:
            kept[path] = (stamp, read(path))
        return kept[path][1]

    return of


class Kept:
    """What functions made of texts, in a folder that lasts from build to build.

    Parameters
    ----------
    folder : Path
    salt : bytes
        Whatever else the results depend on.
    """

    def __init__(self, folder, salt=b""):
        self.folder, self.salt, self.used = Path(folder), salt, set()
        self.folder.mkdir(exist_ok=True)

    def __call__(self, make, text, *given):
        """Return ``make(text, *given)``, a text, from the folder if it was made before."""
        about = f"{make.__module__}.{make.__qualname__}{given!r}".encode() + self.salt
        path = self.folder / hashlib.sha256(about + text.encode()).hexdigest()
        self.used.add(path)
        if path.exists():
            return path.read_bytes().decode()
        made = make(text, *given)
        part = path.with_suffix(".part")
        part.write_bytes(made.encode())
        part.rename(path)  # whole or not at all
        return made

    def forget(self):
        """Remove what was not asked for."""
        for path in set(self.folder.iterdir()) - self.used:
            path.unlink()
