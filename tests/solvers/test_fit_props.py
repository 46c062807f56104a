"""A body of tubes that sways against a box, a wall, a bench: each part is kept out of what it was inside of, or lies on
it where its contact says so. How deep it lies is measured by branch and bound, which the fit knows nothing of."""

from functools import cache

import numpy as np
import pytest
from bodies import THICK, skinned
from test_fit_clear import _FPS, _FRAMES, _PARTS, _TOUCHES, Scene
from test_fit_obstacle import bench, mesh_prop

from foothold.solvers import mesh, rotation
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit.fit import fit

_X, _Y, _Z = np.eye(3)
_DEPTH = 0.03  # metres that a part is inside before
_SIZE = 0.16  # metres, of a box's sides
_LED = ("hand.L", "hand.R", "foot.L", "foot.R")
_ROWS = slice(_TOUCHES[0], _TOUCHES[1] + 1)


class InProp(Scene):
    """A performer who sways against a prop of another kind, which is where the pole would be."""

    def __init__(self, part, kind, led, depth=_DEPTH, seconds=1.1):
        super().__init__(part, depth, led, seconds=seconds)
        self.place = self.middle(part) + (THICK[part] - depth) * self.away  # the foremost of the prop
        self.prop = self.made(kind)
        self.script = ContactScript(_FPS, _FRAMES, (self.prop, self.script.props[1]), self.script.contacts, 0.0)

    def made(self, kind):
        """The prop: its face, a sharp edge that crosses the part, or a corner is foremost."""
        axis = np.array(self.pole.axis)
        aside = np.cross(axis, self.away)
        if kind == "plane":
            return Prop("prop", "plane", tuple(self.place), tuple(-self.away))
        if kind in ("face", "edge", "corner"):
            axes = {"face": (aside, self.away), "edge": (self.away - aside, self.away + aside),
                    "corner": (0.6 * aside - 0.8 * axis, self.away + 0.5 * aside + 0.4 * axis)}[kind]
            box = Prop("prop", "box", size=(_SIZE,) * 3, axis=tuple(rotation.normalize(axes[1])),
                       across=tuple(rotation.normalize(axes[0])))
            corners = mesh.box(box)[0]
            first = corners[corners @ self.away < (corners @ self.away).min() + 1e-6].mean(axis=0)
            return Prop(**{**vars(box), "point": tuple(self.place - first)})
        wedge = self.made("edge")
        points, faces = mesh.box(wedge)
        return mesh_prop(points, faces, "prop")

    def deepest(self, motion):
        """How deep (F,) the deepest of all but hands and feet lies in the prop."""
        ends = [j for j, name in enumerate(self.figure.skeleton.names) if name.split(".")[0] in ("hand", "foot", "toe")]
        faces = self.skin.faces[~np.isin(self.skin.bones[self.skin.faces, 0], ends).any(axis=1)]
        places = skinned(self.body.bound, self.skin, motion)
        if self.prop.kind == "plane":
            return np.maximum((self.prop.point - places[:, faces]) @ self.prop.axis, 0.0).max(axis=(1, 2))
        points, own = mesh.box(self.prop) if self.prop.kind == "box" else (np.add(self.prop.point, self.prop.points),
                                                                          np.array(self.prop.faces))
        return np.array([mesh.depths(p[faces], np.zeros(len(faces), int), 1, points[own])[0] for p in places])


@cache
def fitted(part, kind, led):
    scene = InProp(part, kind, _LED if led else ("hand.R", "foot.R"))
    return scene, *scene.fit()


# a wall without an end is met by what is outermost; corners turn a shin down, too
_ALL = pytest.mark.parametrize("part, kind, led", [
    *((part, kind, led) for part in _PARTS for kind in ("face", "edge", "corner", "mesh") for led in (False, True)),
    ("hips", "plane", False), ("hips", "plane", True), ("upper_arm", "plane", False), ("forearm", "plane", False)])


@_ALL
def test_what_was_inside_is_outside(part, kind, led):
    scene, out, motion = fitted(part, kind, led)
    assert scene.deepest(scene.before).max() > 0.01
    assert scene.deepest(motion).max() < 1e-4 and not [one for one in out.left if one.surface == "prop"]


@_ALL
def test_what_holds_and_stands_stays_and_nothing_jerks(part, kind, led):
    """What lies near a wrist that holds or a foot that stands takes a wide turn of the elbow or knee."""
    scene, out, motion = fitted(part, kind, led)
    assert not out.misses
    assert scene.off_ledge(out, motion) < 1e-6 and scene.slid(motion) < 1e-6
    assert scene.fastest(motion) < 18.0, "360 degrees a second"
    assert np.linalg.norm(out.offset, axis=-1).max() < 0.08


# Touches

def lying(effector, gap=None):
    start, end = _TOUCHES[0] / _FPS, _TOUCHES[1] / _FPS
    path = {"time": [start, end], "gap": [gap, gap]} if gap is not None else {}
    return Contact("seat", effector, "prop", "rest-on", start, end, path=path)


@pytest.mark.parametrize("part, depth, gap, kind", [
    (*case, kind)
    for case in (("forearm", -0.04, 0.0), ("forearm", 0.03, None), ("shin", 0.02, 0.01), ("hips", -0.04, 0.0))
    for kind in ("plane", "face", "edge", "mesh") if (case[0], kind) != ("shin", "plane")])  # before it hangs the arm
def test_what_touches_on_purpose_lies_at_its_gap(part, depth, gap, kind):
    scene = InProp(part, kind, ("hand.R", "foot.R"), depth)
    contact = lying("back" if part == "hips" else f"{part}.L", gap)
    out, motion = scene.fit(contacts=(*scene.script.contacts, contact))
    assert not out.misses
    deep = scene.deepest(motion)
    assert deep.max() < 1e-3
    own = np.isin(scene.skin.bones[:, 0], [scene.figure.skeleton.names.index(r) for r in
                                           (("hips", "chest") if part == "hips" else (f"{part}.L",))])
    places = skinned(scene.body.bound, scene.skin, motion)[_ROWS, own]
    aside = np.abs((places - scene.place) @ np.cross(scene.away, scene.pole.axis)) < 0.01
    ahead = np.max(np.where(aside & (np.abs((places - scene.place) @ scene.pole.axis) < 0.06),
                            (places - scene.place) @ scene.away, -1.0), axis=1)
    assert (kind, part) not in (("face", "hips"), ("plane", "hips")) or np.abs(ahead).max() < 5e-3


class Sitting(Scene):
    """Someone who comes down backwards onto an L-shaped bench: 2 cm in the back, 2 cm in the seat."""

    def __init__(self):
        super().__init__("hips", 0.02, ())
        self.back = self.middle("hips")[1] + THICK["hips"] - 0.02
        self.sizes = (0.2, 0.1)  # the seat's depth and the back's
        self.sits = np.isin(self.skin.bones[:, 0], [self.figure.skeleton.names.index(role) for role in
                                                    ("hips", "thigh.L", "thigh.R")])
        places = skinned(self.body.bound, self.skin, self.before)[_FRAMES // 2, self.sits]
        self.top = places[places[:, 1] > self.back - self.sizes[0], 2].min() + 0.02

    def bench(self):
        deep, thick = self.sizes
        outline = np.array([(self.back - deep, 0.1), (self.back + thick, 0.1), (self.back + thick, self.top + 0.35),
                            (self.back, self.top + 0.35), (self.back, self.top), (self.back - deep, self.top)])
        points = np.concatenate([np.column_stack([np.full(6, x), outline]) for x in (-0.4, 0.4)])
        return points, bench()[1]

    def distance(self, places):
        """How far (...) places are from the bench, negative inside, from its two boxes."""
        deep, thick = self.sizes
        out = []
        for low, high in (((-0.4, self.back - deep, 0.1), (0.4, self.back + thick, self.top)),
                          ((-0.4, self.back, 0.1), (0.4, self.back + thick, self.top + 0.35))):
            off = np.abs(places - 0.5 * np.add(low, high)) - 0.5 * np.subtract(high, low)
            out.append(np.linalg.norm(np.maximum(off, 0.0), axis=-1) + np.minimum(off.max(axis=-1), 0.0))
        return np.min(out, axis=0)


def test_who_sits_on_an_l_shaped_bench_sits_on_its_seat_and_before_its_back():
    scene = Sitting()
    prop = mesh_prop(*scene.bench(), "prop")
    ends = [j for j, name in enumerate(scene.figure.skeleton.names) if name.split(".")[0] in ("hand", "foot", "toe")]
    own = ~np.isin(scene.skin.bones[:, 0], ends)
    before = scene.distance(skinned(scene.body.bound, scene.skin, scene.before)[:, own]).min(axis=1)
    assert before.min() < -0.015
    script = ContactScript(_FPS, _FRAMES, (prop,), (lying("pelvis", 0.0),), 0.0)
    out = fit(scene.body, script, scene.motion, scene.palms, _FPS)
    motion = scene.played(out.plan, out.pose)
    places = skinned(scene.body.bound, scene.skin, motion)
    assert not out.misses and not [one for one in out.left if one.surface == "prop"]
    away = scene.distance(places[:, own]).min(axis=1)
    assert away.min() > -1e-3 and np.abs(scene.distance(places[_ROWS, scene.sits]).min(axis=1)).max() < 1e-3
    assert np.linalg.norm(out.offset, axis=-1).max() < 0.05, "2 cm up and 2 cm ahead, not over the back"
    # independently, as metric 8 tells
    solid = np.add(prop.point, prop.points)[np.array(prop.faces)]
    faces = scene.skin.faces[own[scene.skin.faces].all(axis=1)]
    assert max(mesh.depths(p[faces], np.zeros(len(faces), int), 1, solid)[0] for p in places) < 1e-3
