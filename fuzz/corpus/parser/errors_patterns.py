match x:
    case a.b | *c: d
    case {**_}: e
    case F(a=b, c): g
    case 1j + 2: h
    case (*a): i
