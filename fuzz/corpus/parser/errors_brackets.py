x = (a
def f():
    return [1, 2
class A(
    pass
y = )
