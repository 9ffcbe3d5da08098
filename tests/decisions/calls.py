"""Examples about calls, and what is compiled at all, that run."""

from .examples import example

ONES = "torch.ones(3)"

example(
    "GB0003",
    "def f(x):\n    for i in range(3):\n        yield x + i\n",
    "def f",
    "+ def list_of_f(*args, **kwargs):",
    "+     return list(f(*args, **kwargs))",
    inputs=ONES,
)
example(
    "GB0025",
    "def f(x):\n    y = x + 1\n    torch._dynamo.graph_break()\n    return y * 2\n",
    "graph_break()",
    "-     torch._dynamo.graph_break()",
    inputs=ONES,
    goes=True,
)
example(
    "GB0025",
    "def f(x, debug=True):\n    if debug:\n        torch._dynamo.graph_break()  # look here\n    return x * 2\n",
    "graph_break()",
    "-         torch._dynamo.graph_break()  # look here",
    "+         pass  # look here",
    inputs=ONES,
    goes=True,
)
example(
    "GB0030",
    "from torch._dynamo.comptime import comptime\n\ndef f(x):\n    y = x + 1\n    comptime.graph_break()\n"
    "    return y * 2\n",
    "comptime.graph_break",
    "-     comptime.graph_break()",
    inputs=ONES,
    goes=True,
)
example(
    "GB0045",
    "def f(x):\n    if x.is_inference():\n        return x + 1\n    return x - 1\n",
    "x.is_inference",
    "-     if x.is_inference():",
    "+     if not torch.compiler.is_compiling() and x.is_inference():",
    inputs=ONES,
    goes=True,
)
example(
    "GB0046",
    "def f(x):\n    return x + int(torch.is_inference_mode_enabled())\n",
    "is_inference_mode_enabled",
    "-     return x + int(torch.is_inference_mode_enabled())",
    "+     return x + int(not torch.compiler.is_compiling() and torch.is_inference_mode_enabled())",
    inputs=ONES,
    goes=True,
)
example(
    "GB0055",
    "class Thing:\n    pass\n\ndef f(x):\n    return torch.add(x, Thing())\n",
    "torch.add",
    "-     return torch.add(x, Thing())",
    "+     return torch.add(x, ...)",
    message="call_function args: TensorVariable() UserDefinedObjectVariable(Thing) ",
    inputs=ONES,
    goes=True,
    fill="2",
)
FETCH = "async def fetch(x):\n    return x\n\n"
example(
    "GB0082",
    f"{FETCH}async def f(x):\n    y = await fetch(x)\n    return y * 2\n",
    "await fetch",
    "- async def f(x):",
    "+ def f(x, y):",
    "-     y = await fetch(x)",
    "+ f(x, await fetch(x))",
)
example(
    "GB0082",
    f"{FETCH}async def f(x, *, n=1):\n    return await fetch(x) + await fetch(n)\n",
    "await fetch",
)
example(
    "GB0082",
    "LOCK = make_lock()\n\nasync def f(x):\n    async with LOCK:\n        y = x + 1\n        return y * 2\n",
    "async with LOCK",
    "- async def f(x):",
    "+ def f(x):",
    "-     async with LOCK:",
    "-         y = x + 1",
    "-         return y * 2",
    "+     y = x + 1",
    "+     return y * 2",
    "+ async with LOCK:",
    "+     f(x)",
)
example(
    "GB0082",
    "async def inner(x):\n    async with x:\n        pass\n\ndef f(x):\n    return inner(x)\n",
    "async with x",
    inputs=ONES,
    is_inlined=True,
)
example(
    "GB0098",
    "@torch.compiler.disable\ndef plus(x):\n    return x + 1\n\ndef f(x):\n    return plus(x) * 2\n",
    "return plus",
    "- @torch.compiler.disable",
    inputs=ONES,
    goes=True,
)
example(
    "GB0098",
    "def plus(x):\n    return x + 1\n\nslow_plus = torch.compiler.disable(plus)\n\n"
    "def f(x):\n    return slow_plus(x) * 2\n",
    "return slow_plus",
    "- slow_plus = torch.compiler.disable(plus)",
    "+ slow_plus = plus",
    inputs=ONES,
    goes=True,
)
example(
    "GB0099",
    'class Net(torch.nn.Module):\n    @torch.compiler.disable(reason="slow")\n    def plus(self, x):\n'
    "        return x + 1\n    def forward(self, x):\n        return self.plus(x) * 2\n\nf = Net()\n",
    "self.plus(x)",
    '-     @torch.compiler.disable(reason="slow")',
    inputs=ONES,
    goes=True,
)
example(
    "GB0142",
    "import threading\n\nLOCK = threading.RLock()\n\ndef f(x):\n    with LOCK:\n        return x + 1\n",
    "with LOCK",
    "-     with LOCK:",
    "-         return x + 1",
    "+     return x + 1",
    "+ with LOCK:",
    "+     f(x)",
    inputs=ONES,
    goes=True,
)
example(
    "GB0147",
    "import decimal\n\ndef f(x):\n    return x + float(decimal.Decimal('1'))\n",
    "return x",
    "+ FLOAT = float(decimal.Decimal('1'))",
    "+ ",
    "-     return x + float(decimal.Decimal('1'))",
    "+     return x + FLOAT",
    message="function `<class 'decimal.Decimal'>`",
    inputs=ONES,
    goes=True,
    same=True,
)
example(
    "GB0148",
    "def f(x, y):\n    x.set_(y, 0, (2,), (1,))\n    return x + 1\n",
    "x.set_(",
    "-     x.set_(y, 0, (2,), (1,))",
    "+ x.set_(y, 0, (2,), (1,))",
    inputs="torch.ones(3), torch.zeros(4)",
    goes=True,
    same=True,
)
example(
    "GB0172",
    "import torch.distributed as dist\n\ndef f(x):\n    work = dist.all_reduce(x, async_op=True)\n"
    "    y = x.new_ones(3)\n    work.wait()\n    return x + y\n",
    "async_op",
    "-     work = dist.all_reduce(x, async_op=True)",
    "+     dist.all_reduce(x)",
    "-     work.wait()",
    inputs=ONES,
)
example(
    "GB2533",
    "import contextlib\n\n@contextlib.contextmanager\ndef scope(x):\n    yield x\n\n"
    "def f(x):\n    return scope(x + 1)\n",
    "return scope",
    "-     return scope(x + 1)",
    "+     return x + 1",
    "+ scope(f(x))",
    inputs=ONES,
    goes=True,
)
example(
    "GB4297",
    "def f(x):\n    torch._dynamo.skip_frame()\n    return x * 2\n",
    "skip_frame",
    "-     torch._dynamo.skip_frame()",
    inputs=ONES,
    goes=True,
)
example(
    "GB4636",
    "def f(x):\n    y = x + 1\n    torch._dynamo.step_unsupported()\n    return y * 2\n",
    "step_unsupported",
    "-     torch._dynamo.step_unsupported()",
    inputs=ONES,
    goes=True,
)
