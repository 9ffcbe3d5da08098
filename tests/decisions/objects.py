"""Examples about Python's objects that run."""

from .examples import example

ONES = "torch.ones(3)"

example(
    "GB0198",
    'import types\n\nOWN = {"a": 1}\nPROXY = types.MappingProxyType(OWN)\n\ndef f(x):\n    OWN["b"] = 2\n'
    '    return x + PROXY["a"]\n',
    "return x",
    '-     return x + PROXY["a"]',
    '+     return x + OWN["a"]',
    inputs=ONES,
    goes=True,
    same=True,
)
example(
    "GB0256",
    "import functools\n\nclass Reader:\n    __getattr__ = functools.partial(lambda name: 2)\n\nREADER = Reader()\n"
    "\ndef f(x):\n    return x * READER.scale\n",
    "READER.scale",
    "+ READER_SCALE = READER.scale",
    "+ ",
    "-     return x * READER.scale",
    "+     return x * READER_SCALE",
    inputs=ONES,
    goes=True,
    same=True,
)
example(
    "GB0257",
    "import typing\n\nclass Options(typing.TypedDict, total=False):\n    scale: int\n\ndef f(x):\n"
    '    options = Options(scale=2)\n    return x * options["scale"]\n',
    "options = ",
    "-     options = Options(scale=2)",
    "+     options = dict(scale=2)",
    message="<class 'm.Options'>",
    inputs=ONES,
    goes=True,
)
example(
    "GB4271",
    "class Cold:\n    pass\n\nclass Warm:\n    pass\n\ndef f(x):\n    state = Cold()\n    state.__class__ = Warm\n"
    "    return x + 1\n",
    "state.__class__",
    "-     state = Cold()",
    "+     state = Warm()",
    "-     state.__class__ = Warm",
    inputs=ONES,
    goes=True,
    same=True,
)
example(
    "GB9316",
    "OTHER = object()\n\ndef f(x):\n    mine = [x]\n    if id(mine) == id(OTHER):\n"
    "        return x + 1\n    return x - 1\n",
    "id(mine)",
    "-     if id(mine) == id(OTHER):",
    "+     if mine is OTHER:",
    inputs=ONES,
    goes=True,
)
example(
    "GB9316",
    "def f(x, a, b):\n    return x if hash(a) != hash(b) else x + 1\n",
    "hash(a)",
    "-     return x if hash(a) != hash(b) else x + 1",
    "+     return x if a != b else x + 1",
)
example(
    "GB0190",
    "def f(x):\n    return getattr(torch, x)\n",
    "getattr(",
    "-     return getattr(torch, x)",
    "+     return getattr(torch, ...)",
    inputs=ONES,
    goes=True,
    fill='"pi"',
)
example(
    "GB0254",
    "class State:\n    pass\n\nSTATE = State()\n\ndef f(x):\n    setattr(STATE, x, 1)\n    return x + 1\n",
    "setattr(",
    "-     setattr(STATE, x, 1)",
    "+     setattr(STATE, ..., 1)",
    inputs=ONES,
    goes=True,
    fill='"count"',
)
example(
    "GB4501",
    "def f(x):\n    mine = [x]\n    return x + 1, id(mine)\n",
    "id(mine)",
    "-     return x + 1, id(mine)",
    "+     return x + 1, mine",
    "+ id(f(x)[1])",
    inputs=ONES,
    goes=True,
)
