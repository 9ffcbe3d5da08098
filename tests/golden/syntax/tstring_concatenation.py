t"a" t"b"
t"a{x}" t"b{y}c"
t"{x}" t"{y}"
t"" t""
t"" t"{x}" t""
t"a" rt"\b" T'{c}' tr"""d"""
(t"one {x}"
 t"two {y}"  # between
 t"three")
t"a{x}b" \
  t"c"
