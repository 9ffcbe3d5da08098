a = b, *c = d[e], f.g = yield h
i += 1; j **= yield
k: int
l.m: n = o, p
[q, (r, s)] = t
del u, (v, [w]), x.y, z[0]
