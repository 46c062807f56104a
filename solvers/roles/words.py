"""Bone names taken apart: words without case and separators, namespaces and copies' numbers put aside."""

import re
import unicodedata

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]")
_COPY = re.compile(r"\.\d{3}$")
_MIRRORS = (("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT"), ("左", "右"), ("L", "R"), ("l", "r"))
_NAMESPACE = re.compile(r"^.*[:|]")


def words(name):
    """The words of a bone's name in order: 'mixamorig:LeftForeArm' -> mixamorig, left, fore, arm.

    Full-width letters and digits count as plain ones; scripts without case come letter by letter.
    """
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]


def key(name):
    """The name as one word, for comparing whole names."""
    return "".join(words(name))


def without_namespace(name):
    """'rig|mixamorig:Hips' -> 'Hips'."""
    return _NAMESPACE.sub("", name)


def without_copy_number(name):
    """'Hips.001' -> 'Hips'."""
    return _COPY.sub("", name)


def spellings(name):
    """[(prefix, rest)] of all ways to cut a name between its words, as keys; the whole name first.

    A name with Blender's number for copies comes whole and, after that, without it.
    """
    out = []
    for text in dict.fromkeys((name, without_copy_number(name))):
        parts = words(text)
        out += [("".join(parts[:i]), "".join(parts[i:])) for i in range(len(parts))]
    return out


def mirror_bone(name, names):
    """The bone of the other side by its name, 'hand.L' -> 'hand.R', or None where `names` has no such bone."""
    for pair in _MIRRORS:
        for here, there in (pair, pair[::-1]):
            for found in re.finditer(re.escape(here), name):
                other = name[:found.start()] + there + name[found.end():]
                if other in names:
                    return other
    return None
