"""Damage to files that somebody may have mapped."""


def flip(path, place=None, bit=2):
    """Change a bit of a file, by default of the byte in the middle, where it stands.

    A file that is written anew is empty for a moment, and a process that has mapped it dies if it reads it then.
    """
    with path.open("r+b") as file:
        place = path.stat().st_size // 2 if place is None else place
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
