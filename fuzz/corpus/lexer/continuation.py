x = 1 + \
  2
\
  y
if z:
    \
  w
