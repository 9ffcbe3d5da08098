@a
@b[0](c)
@d := e
@f if g else h
async def i(): pass
@j
x = 1
