t"{a + b}"
t"{a.b.c(d)[e]}"
t"{a if b else c}"
t"{(lambda: 1)}"
t"{(lambda x: x)(2)}"
t"{(x := 1)}"
t"{x:=5}"
t"{*a, b}"
t"{a, b}"
t"{a,}"
t"{ {1, 2} }"
t"{ {'k': v}['k'] }"
t"{[i for i in r]}"
t"{not a}"
t"{a != b}"
t"{a == b}"
t"{a <= b}"
t"{a >= b}"
t"{-1}"
t"{...}"
t"{None}{True}{1.5}{'s'}"


def generator():
    t"{yield}"
    t"{yield 1}"
    t"{(yield from g())}"


async def coroutine():
    return t"{await x}"
