() (a,) (a, *b) [] [a, *b] {} {a: b, **c} {a, *b} ... None True
