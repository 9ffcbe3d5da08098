f() = 1
(a, b) += 1
1 = x
[a, b()] = c
del d + e
for 1 in x: pass
with a as 1: pass
(a := b) = c
None = 1
