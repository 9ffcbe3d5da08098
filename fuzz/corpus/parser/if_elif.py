if a:
    b
elif c: d
elif e:
    f
else:
    g
