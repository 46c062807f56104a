"""The unit of a skeleton whose file does not say it, from the size of the body."""

import numpy as np

# The longest way along the bones from tip to tip (a hand to the other foot, mostly) against the height of the body.
# It does not depend on the pose: adults and children measure 1.3 to 1.45.
SPAN_PER_HEIGHT = 1.35
CMU = 0.0254 / 0.45  # the CMU motion database's unit
# The estimated height in file units, and the unit in metres that it tells of
UNITS = ((0.25, 3.2, 1.0), (3.2, 8.0, 0.3048), (8.0, 18.0, 0.1), (18.0, 40.0, CMU), (55.0, 80.0, 0.0254),
         (80.0, 400.0, 0.01), (400.0, 4000.0, 0.001))


def longest_way(parents, offsets):
    """The longest way from tip to tip along the bones of any tree; parents (J,), offsets (J, 3) from the parents."""
    lengths = np.linalg.norm(np.asarray(offsets, float), axis=1)
    reach, best = np.zeros(len(lengths)), 0.0
    for j in range(len(lengths) - 1, -1, -1):
        parent = parents[j]
        if parent >= 0:
            way = reach[j] + lengths[j]
            best = max(best, reach[parent] + way)
            reach[parent] = max(reach[parent], way)
    return float(best)


def guess(way):
    """Metres per file unit, for the longest way in file units.

    The height (way / 1.35) names the unit: 0.25 to 3.2 is metres, to 8 feet, to 18 decimetres, to 40 the CMU
    database's unit (5.64 cm), 55 to 80 inches, to 400 centimetres, to 4000 millimetres. Beyond that, the power of ten
    that brings it nearest to 1.7 m. From 40 to 55 no unit makes an adult (there is such data, and its jumps fall as an
    adult's do): the body is taken to be 1.7 m tall.
    """
    height = way / SPAN_PER_HEIGHT
    if height <= 0.0:
        return 1.0
    for low, high, unit in UNITS:
        if low <= height < high:
            return unit
    if 40.0 <= height < 55.0:
        return 1.7 / height
    return float(10.0 ** round(np.log10(1.7 / height)))


def correct(way):
    """The factor for a file that states its unit: 1 unless the body would be under 0.25 m or over 8 m tall."""
    return 1.0 if way <= 0.0 or 0.25 <= way / SPAN_PER_HEIGHT < 8.0 else guess(way)
