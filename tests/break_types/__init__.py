"""Dynamo's types of breaks that can be mended in principle: a reproducer of each, or the reason why there is none."""
