"""The numpy core of Foothold. Nothing in this package imports Blender."""
