"""Roles: every naming family by its names, shape where names say nothing, conflicts, hints, files, speed."""

import json
import random
import time

import numpy as np
import pytest
from drawn import figure

from foothold.solvers import humanoid
from foothold.solvers.errors import FootholdError
from foothold.solvers.roles import families, words

MIXAMO = """
Hips = hips
 Spine = spine
  Spine1 = spine.1
   Spine2 = chest
    Neck = neck
     Head = head
      HeadTop_End
    [Left|Right]Shoulder = shoulder.*
     [Left|Right]Arm = upper_arm.*
      [Left|Right]ForeArm = forearm.*
       [Left|Right]Hand = hand.*
        [Left|Right]HandThumb1 = thumb.1.*
         [Left|Right]HandThumb2 = thumb.2.*
          [Left|Right]HandThumb3 = thumb.3.*
           [Left|Right]HandThumb4
        [Left|Right]HandIndex1 = index.1.*
         [Left|Right]HandIndex2 = index.2.*
          [Left|Right]HandIndex3 = index.3.*
           [Left|Right]HandIndex4
        [Left|Right]HandMiddle1 = middle.1.*
         [Left|Right]HandMiddle2 = middle.2.*
          [Left|Right]HandMiddle3 = middle.3.*
        [Left|Right]HandRing1 = ring.1.*
         [Left|Right]HandRing2 = ring.2.*
          [Left|Right]HandRing3 = ring.3.*
        [Left|Right]HandPinky1 = little.1.*
         [Left|Right]HandPinky2 = little.2.*
          [Left|Right]HandPinky3 = little.3.*
 [Left|Right]UpLeg = thigh.*
  [Left|Right]Leg = shin.*
   [Left|Right]Foot = foot.*
    [Left|Right]ToeBase = toe.*
     [Left|Right]Toe_End
"""

FAMILIES = {
    "rokoko": """
Hips = hips
 Spine1 = spine
  Spine2 = spine.1
   Spine3 = spine.2
    Spine4 = chest
     Neck = neck
      Head = head
     [Left|Right]Shoulder = shoulder.*
      [Left|Right]Arm = upper_arm.*
       [Left|Right]ForeArm = forearm.*
        [Left|Right]Hand = hand.*
         [Left|Right]Finger1Metacarpal = thumb.1.*
          [Left|Right]Finger1Proximal = thumb.2.*
           [Left|Right]Finger1Distal = thumb.3.*
         [Left|Right]Finger2Metacarpal = index.0.*
          [Left|Right]Finger2Proximal = index.1.*
           [Left|Right]Finger2Medial = index.2.*
            [Left|Right]Finger2Distal = index.3.*
 [Left|Right]Thigh = thigh.*
  [Left|Right]Shin = shin.*
   [Left|Right]Foot = foot.*
    [Left|Right]Toe = toe.*
""",
    "lafan": """
Hips = hips
 [Left|Right]UpLeg = thigh.*
  [Left|Right]Leg = shin.*
   [Left|Right]Foot = foot.*
    [Left|Right]Toe = toe.*
 Spine = spine
  Spine1 = spine.1
   Spine2 = chest
    Neck = neck
     Head = head
    [Left|Right]Shoulder = shoulder.*
     [Left|Right]Arm = upper_arm.*
      [Left|Right]ForeArm = forearm.*
       [Left|Right]Hand = hand.*
""",
    "cmu_asf": """
root = hips
 [l|r]hipjoint
  [l|r]femur = thigh.*
   [l|r]tibia = shin.*
    [l|r]foot = foot.*
     [l|r]toes = toe.*
 lowerback = spine
  upperback = spine.1
   thorax = chest
    lowerneck = neck
     upperneck = neck.1
      head = head
    [l|r]clavicle = shoulder.*
     [l|r]humerus = upper_arm.*
      [l|r]radius = forearm.*
       [l|r]wrist = forearm.twist.1.*
        [l|r]hand = hand.*
         [l|r]fingers
        [l|r]thumb = thumb.1.*
""",
    "biped": """
Bip001 = root
 Bip001 Footsteps
 Bip001 Pelvis = hips
  Bip001 Spine = spine
   Bip001 [L|R] Thigh = thigh.*
    Bip001 [L|R] Calf = shin.*
     Bip001 [L|R] Foot = foot.*
      Bip001 [L|R] Toe0 = toe.*
       Bip001 [L|R] Toe0Nub
   Bip001 Spine1 = chest
    Bip001 Neck = neck
     Bip001 [L|R] Clavicle = shoulder.*
      Bip001 [L|R] UpperArm = upper_arm.*
       Bip001 [L|R]UpArmTwist = upper_arm.twist.1.*
       Bip001 [L|R] Forearm = forearm.*
        Bip001 [L|R] ForeTwist = forearm.twist.1.*
        Bip001 [L|R] ForeTwist1 = forearm.twist.2.*
        Bip001 [L|R] Hand = hand.*
         Bip001 [L|R] Finger0 = thumb.1.*
          Bip001 [L|R] Finger01 = thumb.2.*
         Bip001 [L|R] Finger1 = index.1.*
          Bip001 [L|R] Finger11 = index.2.*
           Bip001 [L|R] Finger12 = index.3.*
            Bip001 [L|R] Finger1Nub
     Bip001 Head = head
      Bip001 HeadNub
      Bip001 Ponytail1
""",
    "unreal": """
root = root
 ik_foot_root
  ik_foot_[l|r]
 ik_hand_root
  ik_hand_gun
   ik_hand_[l|r]
 pelvis = hips
  spine_01 = spine
   spine_02 = spine.1
    spine_03 = spine.2
     spine_04 = spine.3
      spine_05 = chest
       neck_01 = neck
        neck_02 = neck.1
         head = head
       clavicle_[l|r] = shoulder.*
        upperarm_[l|r] = upper_arm.*
         upperarm_correctiveRoot_[l|r]
         upperarm_twist_01_[l|r] = upper_arm.twist.1.*
         upperarm_twist_02_[l|r] = upper_arm.twist.2.*
         lowerarm_[l|r] = forearm.*
          lowerarm_twist_02_[l|r] = forearm.twist.1.*
          lowerarm_twist_01_[l|r] = forearm.twist.2.*
          hand_[l|r] = hand.*
           index_metacarpal_[l|r] = index.0.*
            index_01_[l|r] = index.1.*
             index_02_[l|r] = index.2.*
              index_03_[l|r] = index.3.*
           pinky_01_[l|r] = little.1.*
           thumb_01_[l|r] = thumb.1.*
            thumb_02_[l|r] = thumb.2.*
             thumb_03_[l|r] = thumb.3.*
           weapon_[l|r]
  thigh_[l|r] = thigh.*
   thigh_twist_01_[l|r] = thigh.twist.1.*
   calf_[l|r] = shin.*
    calf_twist_01_[l|r] = shin.twist.1.*
    foot_[l|r] = foot.*
     ball_[l|r] = toe.*
""",
    "vrm": """
Root = root
 hips = hips
  spine = spine
   chest = spine.1
    upperChest = chest
     neck = neck
      head = head
       [left|right]Eye = eye.*
       jaw = jaw
     [left|right]Shoulder = shoulder.*
      [left|right]UpperArm = upper_arm.*
       [left|right]UpperArmTwist = upper_arm.twist.1.*
       [left|right]LowerArm = forearm.*
        [left|right]Hand = hand.*
         [left|right]ThumbMetacarpal = thumb.1.*
          [left|right]ThumbProximal = thumb.2.*
           [left|right]ThumbDistal = thumb.3.*
         [left|right]RingProximal = ring.1.*
          [left|right]RingIntermediate = ring.2.*
           [left|right]RingDistal = ring.3.*
     [left|right]Breast
  [left|right]UpperLeg = thigh.*
   [left|right]LowerLeg = shin.*
    [left|right]Foot = foot.*
     [left|right]Toes = toe.*
  [left|right]Skirt1
   [left|right]Skirt2
""",
    "vroid": """
Root = root
 J_Bip_C_Hips = hips
  J_Bip_C_Spine = spine
   J_Bip_C_Chest = spine.1
    J_Bip_C_UpperChest = chest
     J_Sec_[L|R]_Bust1
     J_Bip_C_Neck = neck
      J_Bip_C_Head = head
       J_Adj_[L|R]_FaceEye = eye.*
       J_Sec_Hair1_01
     J_Bip_[L|R]_Shoulder = shoulder.*
      J_Bip_[L|R]_UpperArm = upper_arm.*
       J_Bip_[L|R]_LowerArm = forearm.*
        J_Bip_[L|R]_Hand = hand.*
         J_Bip_[L|R]_Little1 = little.1.*
          J_Bip_[L|R]_Little2 = little.2.*
           J_Bip_[L|R]_Little3 = little.3.*
            J_Bip_[L|R]_Little3_end
  J_Bip_[L|R]_UpperLeg = thigh.*
   J_Bip_[L|R]_LowerLeg = shin.*
    J_Bip_[L|R]_Foot = foot.*
     J_Bip_[L|R]_ToeBase = toe.*
""",
    "rigify_metarig": """
spine = hips
 pelvis.[L|R]
 spine.001 = spine
  spine.002 = spine.1
   spine.003 = chest
    breast.[L|R]
    spine.004 = neck
     spine.005 = neck.1
      spine.006 = head
       face
    shoulder.[L|R] = shoulder.*
     upper_arm.[L|R] = upper_arm.*
      forearm.[L|R] = forearm.*
       hand.[L|R] = hand.*
        palm.01.[L|R] = index.0.*
         thumb.01.[L|R] = thumb.1.*
          thumb.02.[L|R] = thumb.2.*
           thumb.03.[L|R] = thumb.3.*
         f_index.01.[L|R] = index.1.*
          f_index.02.[L|R] = index.2.*
           f_index.03.[L|R] = index.3.*
        palm.04.[L|R] = little.0.*
         f_pinky.01.[L|R] = little.1.*
 thigh.[L|R] = thigh.*
  shin.[L|R] = shin.*
   foot.[L|R] = foot.*
    toe.[L|R] = toe.*
    heel.02.[L|R]
""",
    "rigify_deform": """
root = root
 torso
  hips
   ORG-spine
  chest
  ORG-spine.001
 upper_arm_ik.[L|R]
 forearm_tweak.[L|R]
 MCH-hand_ik.[L|R]
 DEF-spine = hips
  DEF-pelvis.[L|R]
  DEF-thigh.[L|R] = thigh.*
   DEF-thigh.[L|R].001 = thigh.twist.1.*
    DEF-shin.[L|R] = shin.*
     DEF-shin.[L|R].001 = shin.twist.1.*
      DEF-foot.[L|R] = foot.*
       DEF-toe.[L|R] = toe.*
  DEF-spine.001 = spine
   DEF-spine.002 = spine.1
    DEF-spine.003 = chest
     DEF-breast.[L|R]
     DEF-spine.004 = neck
      DEF-spine.005 = neck.1
       DEF-spine.006 = head
     DEF-shoulder.[L|R] = shoulder.*
      DEF-upper_arm.[L|R] = upper_arm.*
       DEF-upper_arm.[L|R].001 = upper_arm.twist.1.*
        DEF-forearm.[L|R] = forearm.*
         DEF-forearm.[L|R].001 = forearm.twist.1.*
          DEF-hand.[L|R] = hand.*
           DEF-palm.01.[L|R] = index.0.*
            DEF-f_index.01.[L|R] = index.1.*
             DEF-f_index.02.[L|R] = index.2.*
              DEF-f_index.03.[L|R] = index.3.*
            DEF-thumb.01.[L|R] = thumb.1.*
""",
    "makehuman": """
root = hips
 pelvis.[L|R]
  upperleg01.[L|R] = thigh.*
   upperleg02.[L|R] = thigh.twist.1.*
    lowerleg01.[L|R] = shin.*
     lowerleg02.[L|R] = shin.twist.1.*
      foot.[L|R] = foot.*
       toe1-1.[L|R] = toe.*
        toe1-2.[L|R]
       toe2-1.[L|R]
 spine05 = spine
  spine04 = spine.1
   spine03 = spine.2
    spine02 = spine.3
     breast.[L|R]
     spine01 = chest
      clavicle.[L|R] = shoulder.*
       shoulder01.[L|R]
        upperarm01.[L|R] = upper_arm.*
         upperarm02.[L|R] = upper_arm.twist.1.*
          lowerarm01.[L|R] = forearm.*
           lowerarm02.[L|R] = forearm.twist.1.*
            wrist.[L|R] = hand.*
             finger1-1.[L|R] = thumb.1.*
              finger1-2.[L|R] = thumb.2.*
               finger1-3.[L|R] = thumb.3.*
             metacarpal1.[L|R] = index.0.*
              finger2-1.[L|R] = index.1.*
               finger2-2.[L|R] = index.2.*
                finger2-3.[L|R] = index.3.*
             metacarpal4.[L|R] = little.0.*
              finger5-1.[L|R] = little.1.*
      neck01 = neck
       neck02 = neck.1
        neck03 = neck.2
         head = head
          jaw = jaw
           tongue00
          eye.[L|R] = eye.*
          levator02.[L|R]
""",
    "daz": """
Genesis8Female = root
 hip = hips
  pelvis
   [l|r]ThighBend = thigh.*
    [l|r]ThighTwist = thigh.twist.1.*
     [l|r]Shin = shin.*
      [l|r]Foot = foot.*
       [l|r]Metatarsals
        [l|r]Toe = toe.*
         [l|r]BigToe
  abdomenLower = spine
   abdomenUpper = spine.1
    chestLower = spine.2
     [l|r]Pectoral
     chestUpper = chest
      [l|r]Collar = shoulder.*
       [l|r]ShldrBend = upper_arm.*
        [l|r]ShldrTwist = upper_arm.twist.1.*
         [l|r]ForearmBend = forearm.*
          [l|r]ForearmTwist = forearm.twist.1.*
           [l|r]Hand = hand.*
            [l|r]Carpal1 = index.0.*
             [l|r]Index1 = index.1.*
              [l|r]Index2 = index.2.*
               [l|r]Index3 = index.3.*
            [l|r]Thumb1 = thumb.1.*
             [l|r]Thumb2 = thumb.2.*
      neckLower = neck
       neckUpper = neck.1
        head = head
         lowerJaw = jaw
         [l|r]Eye = eye.*
         [l|r]Ear
""",
    "kaykit": """
root = root
 hips = hips
  spine = spine
   chest = chest
    upperarm.[l|r] = upper_arm.*
     lowerarm.[l|r] = forearm.*
      wrist.[l|r]
       hand.[l|r] = hand.*
        handslot.[l|r]
    head = head
  upperleg.[l|r] = thigh.*
   lowerleg.[l|r] = shin.*
    foot.[l|r] = foot.*
     toes.[l|r] = toe.*
 handIK.[l|r]
 control-heel-roll.[l|r]
  IK-foot.[l|r]
""",
    "robot_expressive": """
Bone = root
 Foot[L|R] = foot.*
 PoleTarget[L|R]
 Body
  Hips = hips
   Abdomen = spine
    Torso = chest
     Neck = neck
      Head = head
     Shoulder[L|R] = shoulder.*
      UpperArm[L|R] = upper_arm.*
       LowerArm[L|R] = forearm.*
        Palm2[L|R] = hand.*
         MiddleFinger1[L|R] = middle.1.*
          MiddleFinger2[L|R] = middle.2.*
         Palm1[L|R]
          Thumb1[L|R] = thumb.1.*
           Thumb2[L|R] = thumb.2.*
   UpperLeg[L|R] = thigh.*
    LowerLeg[L|R] = shin.*
     LowerLeg[L|R]_end
""",
    "mmd": """
全ての親 = root
 センター
  グルーブ
   腰 = hips
    下半身
     [左|右]足 = thigh.*
      [左|右]ひざ = shin.*
       [左|右]足首 = foot.*
        [左|右]足先EX = toe.*
     [左|右]足D
      [左|右]ひざD
    上半身 = spine
     上半身2 = chest
      首 = neck
       頭 = head
        [左|右]目 = eye.*
        両目
      [左|右]肩P
       [左|右]肩 = shoulder.*
        [左|右]腕 = upper_arm.*
         [左|右]腕捩 = upper_arm.twist.1.*
          [左|右]ひじ = forearm.*
           [左|右]手捩 = forearm.twist.1.*
            [左|右]手首 = hand.*
             [左|右]親指０ = thumb.1.*
              [左|右]親指１ = thumb.2.*
               [左|右]親指２ = thumb.3.*
             [左|右]人指１ = index.1.*
              [左|右]人指２ = index.2.*
               [左|右]人指３ = index.3.*
             [左|右]小指１ = little.1.*
 [左|右]足ＩＫ
  [左|右]つま先ＩＫ
""",
    "joints": """
Hips = hips
 Spine = spine
  Chest = chest
   Neck = neck
    Head = head
   [Left|Right] shoulder = shoulder.*
    [Left|Right] arm = upper_arm.*
     [Left|Right] elbow = forearm.*
      [Left|Right] wrist = hand.*
       Thumb0_[L|R] = thumb.1.*
        Thumb1_[L|R] = thumb.2.*
         Thumb2_[L|R] = thumb.3.*
       IndexFinger1_[L|R] = index.1.*
        IndexFinger2_[L|R] = index.2.*
         IndexFinger3_[L|R] = index.3.*
          IndexFinger3_[L|R]_End
 [Left|Right] leg = thigh.*
  [Left|Right] knee = shin.*
   [Left|Right] ankle = foot.*
    [Left|Right] toe = toe.*
""",
    "smpl": """
Pelvis = hips
 [L|R]_Hip = thigh.*
  [L|R]_Knee = shin.*
   [L|R]_Ankle = foot.*
    [L|R]_Foot = toe.*
 Spine1 = spine
  Spine2 = spine.1
   Spine3 = chest
    Neck = neck
     Head = head
    [L|R]_Collar = shoulder.*
     [L|R]_Shoulder = upper_arm.*
      [L|R]_Elbow = forearm.*
       [L|R]_Wrist = hand.*
        [L|R]_Hand
""",
    "character_creator": """
CC_Base_BoneRoot = root
 CC_Base_Hip = hips
  CC_Base_Pelvis
   CC_Base_[L|R]_Thigh = thigh.*
    CC_Base_[L|R]_ThighTwist01 = thigh.twist.1.*
    CC_Base_[L|R]_Calf = shin.*
     CC_Base_[L|R]_Foot = foot.*
      CC_Base_[L|R]_ToeBase = toe.*
  CC_Base_Waist = spine
   CC_Base_Spine01 = spine.1
    CC_Base_Spine02 = chest
     CC_Base_[L|R]_Breast
     CC_Base_NeckTwist01 = neck
      CC_Base_NeckTwist02 = neck.1
       CC_Base_Head = head
     CC_Base_[L|R]_Clavicle = shoulder.*
      CC_Base_[L|R]_Upperarm = upper_arm.*
       CC_Base_[L|R]_UpperarmTwist01 = upper_arm.twist.1.*
       CC_Base_[L|R]_Forearm = forearm.*
        CC_Base_[L|R]_Hand = hand.*
         CC_Base_[L|R]_Mid1 = middle.1.*
""",
    "optitrack": """
Hip = hips
 Ab = spine
  Chest = chest
   Neck = neck
    Head = head
   [L|R]Shoulder = shoulder.*
    [L|R]UArm = upper_arm.*
     [L|R]FArm = forearm.*
      [L|R]Hand = hand.*
 [L|R]Thigh = thigh.*
  [L|R]Shin = shin.*
   [L|R]Foot = foot.*
    [L|R]Toe = toe.*
""",
    "xsens": """
Pelvis = hips
 L5 = spine
  L3 = spine.1
   T12 = spine.2
    T8 = chest
     Neck = neck
      Head = head
     [Left|Right]Shoulder = shoulder.*
      [Left|Right]UpperArm = upper_arm.*
       [Left|Right]ForeArm = forearm.*
        [Left|Right]Hand = hand.*
 [Left|Right]UpperLeg = thigh.*
  [Left|Right]LowerLeg = shin.*
   [Left|Right]Foot = foot.*
    [Left|Right]Toe = toe.*
""",
    "second_life": """
mPelvis = hips
 mTorso = spine
  mChest = chest
   mNeck = neck
    mHead = head
   mCollar[Left|Right] = shoulder.*
    mShoulder[Left|Right] = upper_arm.*
     mElbow[Left|Right] = forearm.*
      mWrist[Left|Right] = hand.*
 mHip[Left|Right] = thigh.*
  mKnee[Left|Right] = shin.*
   mAnkle[Left|Right] = foot.*
    mFoot[Left|Right] = toe.*
     mToe[Left|Right]
""",
    "procedural": """
body_root = root
 body_pelvis = hips
  body_spineA = spine
   body_spineB = spine.1
    body_ribs = chest
     body_neck = neck
      body_head = head
       hairFront_1
     arm[L|R]_clav = shoulder.*
      arm[L|R]_upper = upper_arm.*
       arm[L|R]_lower = forearm.*
        arm[L|R]_palm = hand.*
         arm[L|R]_propSocket
  leg[L|R]_upper = thigh.*
   leg[L|R]_lower = shin.*
    leg[L|R]_foot = foot.*
     leg[L|R]_toes = toe.*
     leg[L|R]_heel
  skirt_[L|R]_1
""",
}

# Names of no family: words alone, or words and shape.
WORDS = {
    "simple": """
root = root
 hips = hips
  spine = spine
   chest = chest
    neck = neck
     head = head
    shoulder.[L|R] = shoulder.*
     arm.[L|R] = upper_arm.*
      forearm.[L|R] = forearm.*
       hand.[L|R] = hand.*
  leg.[L|R] = thigh.*
   shin.[L|R] = shin.*
    foot.[L|R] = foot.*
     toes.[L|R] = toe.*
""",
    "maya": """
root_jnt = root
 pelvis_jnt = hips
  spine_01_jnt = spine
   spine_02_jnt = chest
    neck_jnt = neck
     head_jnt = head
      head_end_jnt
    [L|R]_clav_jnt = shoulder.*
     [L|R]_arm_01_jnt = upper_arm.*
      [L|R]_arm_02_jnt = forearm.*
       [L|R]_arm_03_jnt = hand.*
        [L|R]_thumb_01_jnt = thumb.1.*
         [L|R]_thumb_02_jnt = thumb.2.*
        [L|R]_index_01_jnt = index.1.*
         [L|R]_index_02_jnt = index.2.*
  [L|R]_leg_01_jnt = thigh.*
   [L|R]_leg_02_jnt = shin.*
    [L|R]_leg_03_jnt = foot.*
     [L|R]_leg_04_jnt = toe.*
""",
    "roblox": """
HumanoidRootNode = root
 LowerTorso = hips
  UpperTorso = spine
   Head = head
   [Left|Right]UpperArm = upper_arm.*
    [Left|Right]LowerArm = forearm.*
     [Left|Right]Hand = hand.*
  [Left|Right]UpperLeg = thigh.*
   [Left|Right]LowerLeg = shin.*
    [Left|Right]Foot = foot.*
""",
    "glued": """
pelvis = hips
 spine1 = spine
  spine2 = chest
   neck = neck
    head = head
   [l|r]clavicle = shoulder.*
    [l|r]upperarm = upper_arm.*
     [l|r]forearm = forearm.*
      [l|r]hand = hand.*
 [l|r]thigh = thigh.*
  [l|r]calf = shin.*
   [l|r]foot = foot.*
    [l|r]toe = toe.*
""",
    "joint_words": """
Hip = hips
 Waist = spine
  Chest = chest
   Neck = neck
    Head = head
   Shoulder_[L|R] = shoulder.*
    UpperArm_[L|R] = upper_arm.*
     Elbow_[L|R] = forearm.*
      Wrist_[L|R] = hand.*
 Thigh_[L|R] = thigh.*
  Knee_[L|R] = shin.*
   Ankle_[L|R] = foot.*
    Ball_[L|R] = toe.*
""",
    "limb_first": """
pelvis = hips
 torso_1 = spine
  torso_2 = spine.1
   torso_3 = chest
    neck_1 = neck
     head = head
    clavicle_[l|r] = shoulder.*
     arm_upper_[l|r] = upper_arm.*
      arm_lower_[l|r] = forearm.*
       hand_[l|r] = hand.*
 leg_upper_[l|r] = thigh.*
  leg_lower_[l|r] = shin.*
   foot_[l|r] = foot.*
""",
}

NUMBERED = """
torso_joint_1 = hips
 torso_joint_2 = spine
  torso_joint_3 = chest
   neck_joint_1 = neck
    neck_joint_2 = head
   arm_joint_[L|R]_1 = upper_arm.*
    arm_joint_[L|R]_2 = forearm.*
     arm_joint_[L|R]_3 = hand.*
 joint_leg_[L|R]_1 = thigh.*
  joint_leg_[L|R]_2 = shin.*
   joint_leg_[L|R]_3 = foot.*
    joint_leg_[L|R]_5 = toe.*
"""

CGSPEED = """
Hips = hips
 [L|R]HipJoint
  [Left|Right]UpLeg = thigh.*
   [Left|Right]Leg = shin.*
    [Left|Right]Foot = foot.*
     [Left|Right]ToeBase = toe.*
 LowerBack = spine
  Spine = spine.1
   Spine1 = chest
    Neck = neck
     Neck1 = neck.1
      Head = head
    [Left|Right]Shoulder = shoulder.*
     [Left|Right]Arm = upper_arm.*
      [Left|Right]ForeArm = forearm.*
       [Left|Right]Hand = hand.*
        [Left|Right]FingerBase
         [L|R]Fingers
        [L|R]Thumb = thumb.1.*
"""


def renamed(skeleton, truth, change):
    names = tuple(change(name) for name in skeleton.names)
    table = dict(zip(skeleton.names, names))
    return skeleton._replace(names=names), {role: table[bone] for role, bone in truth.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_family_by_its_names(family):
    skeleton, truth = figure(FAMILIES[family], deforms=lambda n: family != "rigify_deform" or n.startswith("DEF-"))
    found = humanoid.detect(skeleton)
    assert found.roles == truth
    assert found.family == family
    assert not found.conflicts


def test_names_alone_decide_whatever_the_rest_looks_like():
    for family, text in FAMILIES.items():
        skeleton, truth = figure(text, deforms=lambda n, f=family: f != "rigify_deform" or n.startswith("DEF-"))
        lying = skeleton.rest.copy()
        lying[:, :3, 3] = lying[:, [2, 0, 1], 3]  # up is X, and the figure looks elsewhere
        found = humanoid.detect(skeleton._replace(rest=lying))
        assert found.roles == truth, family


@pytest.mark.parametrize("change", [
    lambda n: "mixamorig:" + n, lambda n: "mixamorig1:" + n, lambda n: "mixamorig" + n, lambda n: "mixamorig12_" + n,
    lambda n: "Scene|Bob:mixamorig:" + n, lambda n: "mixamorig:" + n + ".001", lambda n: "mixamorig_" + n.lower(),
    lambda n: "MIXAMORIG:" + n.upper()])
def test_mixamo_with_any_prefix(change):
    skeleton, truth = renamed(*figure(MIXAMO), change)
    found = humanoid.detect(skeleton)
    assert found.roles == truth
    assert found.family == "mixamo"


@pytest.mark.parametrize("prefix", ["", "Character1_", "Robot_", "rig:", "ns1:ns2:", "Hero "])
def test_motionbuilder_names_with_any_prefix(prefix):
    skeleton, truth = renamed(*figure(MIXAMO), lambda n: prefix + n)
    assert humanoid.detect(skeleton).roles == truth


@pytest.mark.parametrize("prefix", ["Bip01", "Bip002", "Bob", "ValveBiped.Bip01", "My Biped"])
def test_biped_of_any_name(prefix):
    skeleton, truth = renamed(*figure(FAMILIES["biped"]), lambda n: n.replace("Bip001", prefix))
    assert humanoid.detect(skeleton).roles == truth


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda n: n.replace("_", "."), lambda n: n.replace("_", "-"),
                                    lambda n: n.replace("_", " "), lambda n: "SK:" + n])
def test_case_and_separators_do_not_matter(change):
    skeleton, truth = renamed(*figure(FAMILIES["unreal"]), change)
    assert humanoid.detect(skeleton).roles == truth


def test_mmd_with_sides_at_the_end():
    def change(name):
        return name[1:] + (".L" if name[0] == "左" else ".R") if name[0] in "左右" else name

    skeleton, truth = renamed(*figure(FAMILIES["mmd"]), change)
    assert humanoid.detect(skeleton).roles == truth


@pytest.mark.parametrize("kind", WORDS)
def test_words_of_no_family(kind):
    skeleton, truth = figure(WORDS[kind])
    assert humanoid.detect(skeleton).roles == truth


def test_numbers_along_a_limb():
    skeleton, truth = figure(NUMBERED)
    assert humanoid.detect(skeleton).roles == truth


def test_cmu_hand_of_its_own_joint():
    skeleton, truth = figure(CGSPEED)
    found = humanoid.detect(skeleton)
    assert (found.roles, found.family, found.conflicts) == (truth, "cmu_motionbuilder", ())


def test_cmu_hand_that_two_bones_turn_at_one_joint():
    """In the cgspeed files LeftHand only turns about the forearm; LeftFingerBase, at the same joint, bends the hand."""
    skeleton, truth = figure(CGSPEED)
    rest = skeleton.rest.copy()
    for side in ("Left", "Right"):
        rest[skeleton.names.index(side + "FingerBase")] = rest[skeleton.names.index(side + "Hand")]
    found = humanoid.detect(skeleton._replace(rest=rest))
    assert found.roles["hand.L"] == "LeftFingerBase" and found.roles["hand.R"] == "RightFingerBase"
    assert found.roles["forearm.twist.1.L"] == "LeftHand"
    assert any("'LeftFingerBase'" in note for note in found.notes)


def test_split_metarig_follows_the_shoulders():
    """Where the clavicles hang from spine.004, that is the chest, and one bone less is neck."""
    text = FAMILIES["rigify_metarig"].replace("spine.006", "spine.007").replace("spine.005", "spine.006")
    text = text.replace("spine.004", "spine.005").replace("   spine.003 = chest", "   spine.003 = spine.2")
    lines = text.strip("\n").split("\n")
    at = lines.index("   spine.003 = spine.2")
    end = next(i for i in range(at + 1, len(lines)) if not lines[i].startswith("    "))
    text = "\n".join([*lines[:at + 1], "    spine.004 = chest", *(" " + li for li in lines[at + 1:end]), *lines[end:]])
    skeleton, truth = figure(text)
    assert humanoid.detect(skeleton).roles == truth



@pytest.mark.parametrize("turn", [0, 90, 200])
@pytest.mark.parametrize("text", [MIXAMO, FAMILIES["lafan"], FAMILIES["xsens"], FAMILIES["second_life"], NUMBERED])
def test_meaningless_names_map_by_shape(text, turn):
    angle = np.radians(turn)
    place = np.eye(4)
    place[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    place[:3, :3] *= 0.01
    place[:3, 3] = 3.0, -2.0, 0.5
    skeleton, truth = figure(text, place, deforms=lambda n: "End" not in n)
    numbers = list(range(len(skeleton.names)))
    random.Random(3).shuffle(numbers)
    anonymous = dict(zip(skeleton.names, numbers))
    skeleton, truth = renamed(skeleton, truth, lambda n: f"bone_{anonymous[n]}")
    found = humanoid.detect(skeleton)
    assert found.roles == truth
    assert found.family == "structure" and found.notes


def test_shape_fills_what_names_leave_open_and_names_know_the_sides():
    skeleton, truth = figure(MIXAMO)
    skeleton, truth = renamed(skeleton, truth, lambda n: "x7" if n == "LeftForeArm" else n)
    mirrored = skeleton.rest.copy()
    mirrored[:, 0, 3] *= -1.0  # the left arm now lies where the right one would
    for rest in (skeleton.rest, mirrored):
        found = humanoid.detect(skeleton._replace(rest=rest))
        assert found.roles["forearm.L"] == "x7"
        assert found.roles["forearm.R"] == "RightForeArm"


def test_no_humanoid():
    skeleton, _ = figure("Bone\n Bone.001\n  Bone.002")
    found = humanoid.detect(skeleton)
    assert (found.roles, found.family) == ({}, "")
    empty = skeleton._replace(names=(), parents=np.zeros(0, int), rest=np.zeros((0, 4, 4)), deforms=np.zeros(0, bool))
    assert humanoid.detect(empty).roles == {}


def test_two_bones_for_one_role_are_settled_and_named():
    hand = "       [Left|Right]Hand = hand.*"
    text = MIXAMO.replace(hand, "       [Left|Right]Hand.001\n" + hand)
    skeleton, truth = figure(text)
    found = humanoid.detect(skeleton)
    assert found.roles == truth
    assert any("hand.L" in c and "'LeftHand'" in c and "'LeftHand.001'" in c for c in found.conflicts)
    deforming = skeleton._replace(deforms=np.array([n != "LeftHand" for n in skeleton.names]))
    found = humanoid.detect(deforming)
    assert found.roles["hand.L"] == "LeftHand.001"
    assert any("hand.L" in c and "deforms" in c for c in found.conflicts)


def test_hints_win():
    skeleton, truth = figure(MIXAMO)
    found = humanoid.detect(skeleton, {"hips": "Hips", "spine": "Spine", "chest": "Spine1", "forearm.L": "LeftHand"})
    assert found.roles["forearm.L"] == "LeftHand" and "hand.L" not in found.roles
    assert found.roles["chest"] == "Spine1" and "spine.1" not in found.roles
    assert found.roles["forearm.R"] == truth["forearm.R"]
    assert "The file itself names 4 roles." in found.notes


def test_hints_leave_out_a_finger_tip_that_the_names_know():
    skeleton, truth = figure(MIXAMO)
    hints = {role: bone for role, bone in truth.items() if role != "index.3.L"}
    assert humanoid.detect(skeleton, hints).roles == truth


def test_hints_that_cannot_be_are_named():
    skeleton, truth = figure(MIXAMO)
    found = humanoid.detect(skeleton, {"hips": "Hip", "wing.L": "Head", "hand.L": "LeftHand", "hand.R": "LeftHand"})
    assert found.roles == truth
    for word in ("'Hip'", "wing.L", "hand.R"):
        assert any(word in c for c in found.conflicts), word


def test_roles_come_in_the_order_of_the_table():
    found = humanoid.detect(figure(MIXAMO)[0]).roles
    places = [humanoid.ROLES.index(role) for role in found]
    assert places == sorted(places)


def test_missing_core_is_noted():
    skeleton, _ = figure(MIXAMO.split(" [Left|Right]UpLeg")[0])
    found = humanoid.detect(skeleton)
    assert any("thigh.L" in note for note in found.notes)
    assert "thigh.L" in humanoid.missing(found.roles)


def test_tables():
    assert set(humanoid.PARENT) == set(humanoid.LIMB_CHILD) == set(humanoid.ROLES)
    assert [role for group in humanoid.GROUPS.values() for role in group] == list(humanoid.ROLES)
    assert humanoid.PARENT["forearm.L"] == "upper_arm.L" and humanoid.PARENT["hips"] is None
    assert humanoid.PARENT["index.1.R"] == "index.0.R" and humanoid.PARENT["thumb.1.R"] == "hand.R"
    assert humanoid.LIMB_CHILD["forearm.L"] == "hand.L" and humanoid.LIMB_CHILD["toe.L"] is None
    assert humanoid.mirror_role("forearm.twist.1.L") == "forearm.twist.1.R"
    assert humanoid.mirror_role("chest") == "chest"
    assert humanoid.chain({"hips": "a", "chest": "b", "spine": "c", "spine.1": "d"}, "spine") == ["spine", "spine.1",
                                                                                                "chest"]
    assert humanoid.is_role("spine.7") and humanoid.is_role("thigh.twist.9.L")
    assert not humanoid.is_role("hand.twist.1.L") and not humanoid.is_role("elbow.L")


@pytest.mark.parametrize("bone, other", [("hand.L", "hand.R"), ("mixamorig:RightHand", "mixamorig:LeftHand"),
                                         ("左ひじ", "右ひじ"), ("calf_l", "calf_r"), ("Bip01 L Calf", "Bip01 R Calf"),
                                         ("DEF-forearm.L.001", "DEF-forearm.R.001"), ("head", None)])
def test_bone_of_the_other_side(bone, other):
    assert humanoid.mirror_bone(bone, {bone, other, "reel"}) == other


def test_validate_names_each_fault():
    skeleton, truth = figure(MIXAMO)
    assert humanoid.validate(truth, skeleton) == []
    bad = {"head": "Head", "neck": "Head", "hand.L": "Hook", "elbow.L": "LeftForeArm"}
    faults = humanoid.validate(bad, skeleton)
    for words_of_fault in (("neck", "'Head'", "head"), ("hand.L", "'Hook'"), ("'elbow.L'",), ("hips",)):
        assert any(all(w in fault for w in words_of_fault) for fault in faults), words_of_fault
    assert len(faults) == 4


def test_saved_maps_come_back(tmp_path):
    _, truth = figure(FAMILIES["mmd"])
    path = tmp_path / "map.json"
    humanoid.dump_roles(path, truth)
    assert humanoid.load_roles(path) == truth
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1
    path.write_text(json.dumps(truth), encoding="utf-8")
    assert humanoid.load_roles(path) == truth


@pytest.mark.parametrize("text, said", [
    ("{", "JSON"), ("[1]", "no table"), ('{"version": 2, "roles": {}}', "version 2"),
    ('{"hips": "a", "elbow.L": "b"}', "row 2 ('elbow.L')"), ('{"hips": 7}', "row 1 ('hips')"),
    ('{"hips": "a", "hips": "b"}', "row 2 ('hips')"), ('{"hips": "a", "spine": "a"}', "row 2 ('spine')"),
    ('{"version": 1, "roles": {"hips": ""}}', "row 1 ('hips')")])
def test_bad_files_name_file_and_row(tmp_path, text, said):
    path = tmp_path / "map.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FootholdError) as error:
        humanoid.load_roles(path)
    assert "map.json" in str(error.value) and said in str(error.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FootholdError, match="none.json"):
        humanoid.load_roles(tmp_path / "none.json")
    with pytest.raises(FootholdError, match="map.json"):
        humanoid.dump_roles(tmp_path / "none" / "map.json", {})


def test_words_of_names():
    assert words.words("mixamorig:LeftForeArm") == ["mixamorig", "left", "fore", "arm"]
    assert words.key("足ＩＫ１") == words.key("足IK1")


def test_families_are_sound():
    parts = set()
    for family in families.load():
        parts |= {claim.part for claim in family.claims.values() if claim}
    plain = {role.rsplit(".", 1)[0] if role.endswith((".L", ".R")) else role for role in humanoid.ROLES}
    plain |= {"torso", "column"} | {f"{p}.twist" for p in ("upper_arm", "forearm", "thigh", "shin")}
    plain |= {"thumb", "index", "middle", "ring", "little"}
    assert parts <= plain
    assert {f.name for f in families.load()} >= set(FAMILIES) - {"procedural"}


def test_two_hundred_bones_take_less_than_fifty_milliseconds():
    extra = "\n".join(f"       curl_{i}_tip{i}" for i in range(160))
    skeleton, truth = figure(MIXAMO.replace("      HeadTop_End", "      HeadTop_End\n" + extra))
    assert len(skeleton.names) >= 200
    best = min(_seconds(skeleton) for _ in range(5))
    assert best < 0.05
    assert humanoid.detect(skeleton).roles == truth


def _seconds(skeleton):
    start = time.perf_counter()
    humanoid.detect(skeleton)
    return time.perf_counter() - start
