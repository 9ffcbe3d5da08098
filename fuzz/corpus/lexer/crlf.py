if x:
    y

z
