x = (1, [2)
y = }
(
def f(): pass
