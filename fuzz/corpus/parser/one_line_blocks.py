if a: b; c
else: d
class E: f = 1; g = 2
if a: if b: c
while a: for b in c: d
