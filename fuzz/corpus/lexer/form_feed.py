if x:
    y
    z
