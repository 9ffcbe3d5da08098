x y
if x
  y
else z
def (: pass
class
for in y: pass
a + = b
