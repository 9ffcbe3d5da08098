if x:
y
  z
try:
  a
b
match c:
  d
else: e
with f
  g
