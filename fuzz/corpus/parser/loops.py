for a, *b in c, *d:
    break
else:
    pass
while x := y:
    continue
else: z
async def f():
    async for i in j: k
    async with l as m, n: o
