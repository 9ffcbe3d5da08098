match x, *y:
    case 1 | -2.5+3j | "a" "b" | None: a
    case [a, *_, (b), {"k": c, **d}] as e if f: b
    case A.B(c, d=e) | F(): c
    case _: d
match = match(x)
match[x]: int
match -x
