def f():
    global a, b
    nonlocal c
    a: int = 1
