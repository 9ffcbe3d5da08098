match x:
    case +1: pass
    case + 1.5: pass
    case +2j: pass
    case +1 + 2j: pass
    case +1 - 2j: pass
    case 1 + +2j: pass
    case -1 - +2j: pass
    case +1 | -1 | 1: pass
    case [+1, +2.0]: pass
    case {+1: a, -1: b, +1 + +1j: c}: pass
    case C(+1, k=+2): pass
    case (+3): pass
    case +0x10 as n if n: pass
