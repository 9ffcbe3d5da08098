"a" 'b' f"{c}" "d"
b"e" b"f"
b"g" "h"
t"{i}" t"j"
