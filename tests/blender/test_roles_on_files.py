"""Roles on real files: every body, character and take, imported and compared with what a look at each rig says."""

import json
import re

import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators.bridge import files, read, roles  # noqa: E402
from foothold.solvers import humanoid  # noqa: E402

_SIDES = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")


def table(*texts):
    """role -> bone of texts with a row `role = bone` a line; [a|b] is a side, * in the role its letter, # 1 to 3."""
    out = {}
    for line in "\n".join(texts).strip().split("\n"):
        role, _, bone = line.strip().partition(" = ")
        for number in "123" if "#" in role else ("",):
            for i, letter in enumerate("LR" if "*" in role else ("",)):
                name = _SIDES.sub(lambda m, i=i: m.group(i + 1), bone)
                out[role.replace("*", letter).replace("#", number)] = name.replace("#", number)
    return out


HUMANIK = """hips = Hips
spine = Spine
head = Head
neck = Neck
shoulder.* = [Left|Right]Shoulder
upper_arm.* = [Left|Right]Arm
forearm.* = [Left|Right]ForeArm
hand.* = [Left|Right]Hand
thigh.* = [Left|Right]UpLeg
shin.* = [Left|Right]Leg
foot.* = [Left|Right]Foot
toe.* = [Left|Right]ToeBase"""
SPINE_OF_3 = "spine.1 = Spine1\nchest = Spine2"
SPINE_OF_4 = "spine.1 = Spine1\nspine.2 = Spine2\nchest = Spine3"
FINGERS = """thumb.#.* = [Left|Right]HandThumb#
index.#.* = [Left|Right]HandIndex#
middle.#.* = [Left|Right]HandMiddle#
ring.#.* = [Left|Right]HandRing#
little.#.* = [Left|Right]HandPinky#"""
PALMS = "\n".join(f"{f}.0.* = [Left|Right]InHand{name}" for f, name in
                  (("index", "Index"), ("middle", "Middle"), ("ring", "Ring"), ("little", "Pinky")))
CMU = """spine = LowerBack
spine.1 = Spine
chest = Spine1
neck.1 = Neck1
thumb.1.* = [L|R]Thumb"""
# In these files [Left|Right]Hand only turns about the forearm; the bone above it, at the same joint, bends the wrist.
CMU_WRIST = "hand.* = [Left|Right]FingerBase\nforearm.twist.1.* = [Left|Right]Hand"

MIXAMO = {role: "mixamorig:" + bone for role, bone in table(HUMANIK, SPINE_OF_3, FINGERS).items()}
UNREAL = """root = root
hips = pelvis
spine = spine_01
spine.1 = spine_02
chest = spine_03
neck = neck_01
head = head
shoulder.* = clavicle_[l|r]
upper_arm.* = upperarm_[l|r]
forearm.* = lowerarm_[l|r]
hand.* = hand_[l|r]
thigh.* = thigh_[l|r]
shin.* = calf_[l|r]
foot.* = foot_[l|r]
toe.* = ball_[l|r]"""
UNREAL_FINGERS = "\n".join(f"{f}.#.* = {name}_0#_[l|r]" for f, name in
                           (("thumb", "thumb"), ("index", "index"), ("middle", "middle"), ("ring", "ring"),
                            ("little", "pinky")))
BIPED = """hips = Bip01 Pelvis
spine = Bip01 Spine
spine.1 = Bip01 Spine1
chest = Bip01 Spine2
neck = Bip01 Neck
head = Bip01 Head
shoulder.* = Bip01 [L|R] Clavicle
upper_arm.* = Bip01 [L|R] UpperArm
forearm.* = Bip01 [L|R] Forearm
hand.* = Bip01 [L|R] Hand
thigh.* = Bip01 [L|R] Thigh
shin.* = Bip01 [L|R] Calf
foot.* = Bip01 [L|R] Foot
toe.* = Bip01 [L|R] Toe0"""
BIPED_FACE = "jaw = Bip01 MJaw\neye.* = Bip01 [L|R]Eye"
BIPED_FINGERS = "\n".join(f"{f}.{i}.* = Bip01 [L|R] Finger{n}{('', '1', '2')[i - 1]}" for n, f in
                          enumerate(("thumb", "index", "middle", "ring", "little")) for i in (1, 2, 3))
RIGIFY = """hips = spine
spine = spine.001
spine.1 = spine.002
shoulder.* = shoulder.[L|R]
upper_arm.* = upper_arm.[L|R]
forearm.* = forearm.[L|R]
hand.* = hand.[L|R]
thigh.* = thigh.[L|R]
shin.* = shin.[L|R]
foot.* = foot.[L|R]
toe.* = toe.[L|R]
head = spine.006"""
RIGIFY_FINGERS = """thumb.#.* = thumb.0#.[L|R]
index.0.* = palm.01.[L|R]
index.#.* = f_index.0#.[L|R]
middle.0.* = palm.02.[L|R]
middle.#.* = f_middle.0#.[L|R]
ring.0.* = palm.03.[L|R]
ring.#.* = f_ring.0#.[L|R]
little.0.* = palm.04.[L|R]
little.#.* = f_pinky.0#.[L|R]"""
VRM = """hips = hips
spine = spine
spine.1 = chest
chest = upperChest
neck = neck
head = head
shoulder.* = [left|right]Shoulder
upper_arm.* = [left|right]UpperArm
forearm.* = [left|right]LowerArm
hand.* = [left|right]Hand
thigh.* = [left|right]UpperLeg
shin.* = [left|right]LowerLeg
foot.* = [left|right]Foot
toe.* = [left|right]Toes
thumb.1.* = [left|right]ThumbMetacarpal
thumb.2.* = [left|right]ThumbProximal
thumb.3.* = [left|right]ThumbDistal
""" + "\n".join(f"{f}.{i}.* = [left|right]{f.title()}{joint}" for f in ("index", "middle", "ring", "little")
                for i, joint in enumerate(("Proximal", "Intermediate", "Distal"), 1))
TWISTS = """root = Root
upper_arm.twist.1.* = [left|right]UpperArmTwist
forearm.twist.1.* = [left|right]LowerArmTwist"""
VROID = """hips = J_Bip_C_Hips
spine = J_Bip_C_Spine
spine.1 = J_Bip_C_Chest
chest = J_Bip_C_UpperChest
neck = J_Bip_C_Neck
head = J_Bip_C_Head
shoulder.* = J_Bip_[L|R]_Shoulder
upper_arm.* = J_Bip_[L|R]_UpperArm
forearm.* = J_Bip_[L|R]_LowerArm
hand.* = J_Bip_[L|R]_Hand
thigh.* = J_Bip_[L|R]_UpperLeg
shin.* = J_Bip_[L|R]_LowerLeg
foot.* = J_Bip_[L|R]_Foot
toe.* = J_Bip_[L|R]_ToeBase
thumb.#.* = J_Bip_[L|R]_Thumb#
index.#.* = J_Bip_[L|R]_Index#
middle.#.* = J_Bip_[L|R]_Middle#
ring.#.* = J_Bip_[L|R]_Ring#
little.#.* = J_Bip_[L|R]_Little#"""
VOXEL = """hips = Hips
spine = Spine
chest = Chest
neck = Neck
head = Head
shoulder.* = [Left|Right] shoulder
upper_arm.* = [Left|Right] arm
forearm.* = [Left|Right] elbow
hand.* = [Left|Right] wrist
thigh.* = [Left|Right] leg
shin.* = [Left|Right] knee
foot.* = [Left|Right] ankle
toe.* = [Left|Right] toe
thumb.1.* = Thumb0_[L|R]
thumb.2.* = Thumb1_[L|R]
thumb.3.* = Thumb2_[L|R]
index.#.* = IndexFinger#_[L|R]
middle.#.* = MiddleFinger#_[L|R]
ring.#.* = RingFinger#_[L|R]
little.#.* = LittleFinger#_[L|R]"""
KAYKIT = """root = root
hips = hips
spine = spine
chest = chest
head = head
upper_arm.* = upperarm.[l|r]
forearm.* = lowerarm.[l|r]
hand.* = hand.[l|r]
thigh.* = upperleg.[l|r]
shin.* = lowerleg.[l|r]
foot.* = foot.[l|r]
toe.* = toes.[l|r]"""
CESIUM = """hips = Skeleton_torso_joint_1
spine = Skeleton_torso_joint_2
chest = torso_joint_3
neck = Skeleton_neck_joint_1
head = Skeleton_neck_joint_2
upper_arm.* = Skeleton_arm_joint_[L__4_|R]
forearm.* = Skeleton_arm_joint_[L__3_|R__2_]
hand.* = Skeleton_arm_joint_[L__2_|R__3_]
thigh.* = leg_joint_[L|R]_1
shin.* = leg_joint_[L|R]_2
foot.* = leg_joint_[L|R]_3
toe.* = leg_joint_[L|R]_5"""
CHIBI = """root = body_root
hips = body_pelvis
spine = body_spineA
spine.1 = body_spineB
chest = body_ribs
neck = body_neck
head = body_head
shoulder.* = arm[L|R]_clav
upper_arm.* = arm[L|R]_upper
forearm.* = arm[L|R]_lower
hand.* = arm[L|R]_palm
thigh.* = leg[L|R]_upper
shin.* = leg[L|R]_lower
foot.* = leg[L|R]_foot
toe.* = leg[L|R]_toes"""
ASF = """hips = root
spine = lowerback
spine.1 = upperback
chest = thorax
neck = lowerneck
neck.1 = upperneck
head = head
shoulder.* = [l|r]clavicle
upper_arm.* = [l|r]humerus
forearm.* = [l|r]radius
forearm.twist.1.* = [l|r]wrist
hand.* = [l|r]hand
thumb.1.* = [l|r]thumb
thigh.* = [l|r]femur
shin.* = [l|r]tibia
foot.* = [l|r]foot
toe.* = [l|r]toes"""
GENO = table(HUMANIK, SPINE_OF_4, "neck.1 = Neck1", FINGERS)

TRUTH = {
    "bodies/same_as_performer.blend": ("mixamo", MIXAMO),
    "bodies/same_as_performer.fbx": ("mixamo", MIXAMO),
    "bodies/fbx_scale.blend": ("mixamo", MIXAMO),
    "bodies/short_arms.blend": ("vrm", table(VRM)),
    "bodies/short_arms.glb": ("vrm", table(VRM)),
    "bodies/twist_bones.blend": ("vrm", table(VRM, TWISTS)),
    "bodies/stocky.blend": ("rigify_metarig",
                            table(RIGIFY, "chest = spine.003\nneck = spine.004\nneck.1 = spine.005")),
    "bodies/tall.blend": ("unreal", table(UNREAL)),
    "bodies/chibi.blend": ("procedural", table(CHIBI)),
    "bodies/long_arms_short_legs.blend": ("biped", table(BIPED, "root = Bip01")),
    "characters/cesium_man/CesiumMan.glb": ("procedural", table(CESIUM)),
    "characters/geno/Geno.fbx": ("lafan", GENO),
    "characters/geno/Geno_stance.bvh": ("lafan", GENO),
    "characters/kaykit_adventurers/Knight.glb": ("kaykit", table(KAYKIT)),
    "characters/makehuman_cc0/mh_cmu_male_old.glb": ("cmu_motionbuilder", table(HUMANIK, CMU)),
    "characters/makehuman_cc0/mh_mixamo_female_slim.glb": ("mixamo", MIXAMO),
    # the clavicles hang from spine.004: the torso has one bone more than usual, the neck one less
    "characters/makehuman_cc0/mh_rigify_female.glb": (
        "rigify_metarig",
        table(RIGIFY, "spine.2 = spine.003\nchest = spine.004\nneck = spine.005", RIGIFY_FINGERS)),
    "characters/makehuman_cc0/mh_ue_male_muscular.fbx": ("unreal", table(UNREAL, "root = Root", UNREAL_FINGERS)),
    "characters/makehuman_cc0/mh_ue_male_muscular.glb": ("unreal", table(UNREAL, "root = Root", UNREAL_FINGERS)),
    "characters/makehuman_cc0/mh_vrm1_female_vroidnames.vrm": ("vroid", table(VROID)),
    "characters/rocketbox/Female_Adult_03.fbx": ("biped", table(BIPED, BIPED_FACE, BIPED_FINGERS)),
    "characters/rocketbox/Male_Adult_01.fbx": ("biped", table(BIPED, BIPED_FACE, BIPED_FINGERS)),
    "characters/rocketbox/Male_Child_01.fbx": ("biped", {
        role: bone.replace("Bip01", "Bip02") for role, bone in table(BIPED, BIPED_FACE, BIPED_FINGERS).items()}),
    "characters/vrm0_voxel/cryptovoxels.vrm": ("joints", table(VOXEL)),
    "pole/*/*.bvh": ("lafan", table(HUMANIK, SPINE_OF_3)),
    "takes/animated_drawings/jesse_dance.bvh": ("rokoko", table(HUMANIK, SPINE_OF_3, FINGERS, PALMS)),
    "takes/animated_drawings/jumping.bvh": ("lafan",
                                            table(HUMANIK, SPINE_OF_4, "thumb.1.* = [Left|Right]HandThumb1")),
    "takes/cmu_bvh60/*.bvh": ("cmu_asf", table(ASF)),
    "takes/cmu_cgspeed_bvh/*.bvh": ("cmu_motionbuilder", table(HUMANIK, CMU, CMU_WRIST)),
    "takes/cmu_fbx_isaacgym/*.fbx": ("cmu_motionbuilder",
                                     table(HUMANIK, CMU, CMU_WRIST, "index.1.* = [Left|Right]HandIndex1")),
    "takes/kaykit_anims/*.glb": ("kaykit", table(KAYKIT)),
}


@pytest.fixture(autouse=True)
def _empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.mark.parametrize("pattern", TRUTH)
def test_every_file_maps_fully_right(data, pattern):
    family, truth = TRUTH[pattern]
    paths = sorted(data.glob(pattern))
    if not paths:
        pytest.skip(f"{pattern} is not among the trial data")
    for path in paths:
        imported = files.import_file(str(path))
        found = roles.detect(imported.armatures[0])
        assert found.roles == truth, path.name
        assert found.family == family
        assert not found.conflicts
        assert humanoid.validate(found.roles, read.read_skeleton(imported.armatures[0])) == []
        files.remove(imported)


def test_no_file_is_left_out(data):
    known = {path for pattern in TRUTH for path in data.glob(pattern)}
    kinds = (".bvh", ".fbx", ".glb", ".vrm", ".blend")
    there = {p for folder in ("bodies", "characters", "takes", "pole") for p in (data / folder).rglob("*")
             if p.suffix in kinds}
    assert there == known


def test_bodies_agree_with_their_own_description(data):
    described = json.loads((data / "bodies" / "bodies.json").read_text(encoding="utf-8"))["bodies"]
    for body in described.values():
        for file in body["files"]:
            family, truth = TRUTH["bodies/" + file]
            assert family == body["family"]
            assert truth.items() >= body["roles"].items()
            assert truth.get("root") == body["root"]
