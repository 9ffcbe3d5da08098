def f(a=1, b): pass
def f(*): pass
def f(/): pass
def f(**a, b): pass
def f(*, **a): pass
lambda *a=1: 0
def f[](): pass
