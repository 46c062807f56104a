"""A skeleton as a tree: who descends from whom, and where the joints stand in the rest."""

import numpy as np


class Tree:
    """Relations between the bones of a Skeleton, worked out once.

    Joints are the bones' heads in world space; tails are never asked, because bones may point anywhere.
    """

    def __init__(self, skeleton):
        self.names = skeleton.names
        self.parents = [int(p) for p in skeleton.parents]
        self.deforms = [bool(d) for d in skeleton.deforms]
        heads = np.asarray(skeleton.rest, float)[:, :3, 3] if len(self.names) else np.zeros((0, 3))
        self.heads = heads @ np.asarray(skeleton.world, float)[:3, :3].T + np.asarray(skeleton.world, float)[:3, 3]
        self.children = [[] for _ in self.names]
        self.depth = [0] * len(self.names)
        for j, parent in enumerate(self.parents):  # parents come before children
            if parent >= 0:
                self.children[parent].append(j)
                self.depth[j] = self.depth[parent] + 1
        self.size = [1] * len(self.names)
        for j in reversed(range(len(self.names))):
            if self.parents[j] >= 0:
                self.size[self.parents[j]] += self.size[j]
        self._lines = {}

    def line(self, j):
        """The bones from the topmost ancestor down to j, both included."""
        if j not in self._lines:
            parent = self.parents[j]
            self._lines[j] = ([] if parent < 0 else self.line(parent)) + [j]
        return self._lines[j]

    def is_above(self, a, b):
        """Whether a is b or an ancestor of b."""
        return self.depth[a] <= self.depth[b] and self.line(b)[self.depth[a]] == a

    def related(self, a, b):
        """Whether one of the two is the other's ancestor."""
        return self.is_above(a, b) or self.is_above(b, a)

    def meeting(self, bones):
        """The lowest bone that is above all of `bones` (or one of them), None where they have no common ancestor."""
        lines = [self.line(b) for b in bones]
        found = None
        for level in zip(*lines):
            if any(b != level[0] for b in level):
                break
            found = level[0]
        return found

    def distance(self, a, b):
        """Between two joints, metres."""
        return float(np.linalg.norm(self.heads[a] - self.heads[b]))

    def reach(self):
        """The largest extent of the joints, metres."""
        return float(np.max(np.ptp(self.heads, axis=0))) if len(self.names) else 0.0
