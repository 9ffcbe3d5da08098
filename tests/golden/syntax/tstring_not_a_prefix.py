t = 1
T = t
t.x
t["y"]
t("z")
rt = tr = 2
def t(t=t): return t
print(t, "x")
[t, "x"]
t; "x"
not_t = t if t else "x"
