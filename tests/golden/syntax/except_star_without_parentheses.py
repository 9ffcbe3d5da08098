try:
    pass
except* A, B:
    pass

try:
    pass
except *A, B:
    pass
except*A, B, C,:
    pass
except* A,:
    pass
except* (A, B) as e:
    pass
except* (A, B), C:
    pass
except* a.b, c: pass
else:
    pass
finally:
    pass
