"""Every expression of two lists, in every place that a mend knows: mended does what eager does.

Generated programs put few expressions together in many ways; this goes through many, one by one. `make sweep`.
"""
