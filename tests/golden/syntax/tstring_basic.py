t""
t''
t"text"
T"text"
t"""triple"""
t'''triple'''
t"{name}"
t"{name} and {other}"
t"before {name} after"
t"{{literal braces}}"
t"{{{name}}}"
t"a{x}{y}b"
t"{ spaced }"
t"{  wide   }"
t"\t\x41\u00e9\N{BULLET}{x}\n"
x = t"hello {x}"
(t"in parentheses {x}")
f(t"{a}", b=t"{b}")
t"{x}".strings
t"{x}" + t"{y}"
t"{x}" % y
