try:
    a
except B as c: d
except (E, F): g
except: h
else: i
finally: j
try: k
except* L: m
try: n
except O, P: q
