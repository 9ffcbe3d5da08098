try:
    pass
except A, B:
    pass

try:
    pass
except A, B, C:
    pass

try:
    pass
except A,:
    pass

try:
    pass
except A, B,:
    pass

try:
    pass
except a.b, c[d], f(e), (g, h):
    pass
except A if B else C, D:
    pass
except lambda: x, E:
    pass
except (A, B) as e:
    pass
except (A), (B):
    pass
except \
  A, \
  B: pass
except:
    pass
else:
    pass
finally:
    pass
