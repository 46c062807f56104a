"""How bones find their roles: names by families and by words, then the shape of the tree; see `solvers.humanoid`."""
