f(a, *b, c=d, **e)(g)[h:i:j, k, ::]. l(m := 1)[*n]
f(a=1, b)
f(**a, *b)
