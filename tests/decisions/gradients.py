"""Examples about gradients that run."""

from .examples import example

LEAF = "torch.ones(3, requires_grad=True)"
TWICE = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

"""

example(
    "GB0013",
    "W = torch.ones(3, requires_grad=True)\nHANDLE = W.register_hook(print)\n"
    "\ndef f(x):\n    HANDLE.remove()\n    return x + 1\n",
    "HANDLE.remove",
    "-     HANDLE.remove()",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0083",
    "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.inner = torch.nn.Linear(3, 3)\n"
    "        self.inner.register_full_backward_hook(lambda module, before, after: None)\n"
    "    def forward(self, x):\n        return self.inner(x) + 1\n\nf = Net()\n",
    "self.inner(x)",
    "+ torch._dynamo.config.compiled_autograd = True",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0085",
    "import functools\n\nclass Twice(torch.autograd.Function):\n"
    "    forward = functools.partial(lambda ctx, x: x * 2)\n    @staticmethod\n    def backward(ctx, grad):\n"
    "        return grad * 2\n\ndef f(x):\n    return Twice.apply(x) + 1\n",
    "Twice.apply",
    "-     forward = functools.partial(lambda ctx, x: x * 2)",
    "+     @staticmethod",
    "+     def forward(ctx, x):",
    "+         return functools.partial(lambda ctx, x: x * 2)(ctx, x)",
    inputs=LEAF,
    goes=True,
    same=True,
)
example(
    "GB0100",
    "HANDLE = None\ndef hook(grad):\n    return grad * 2\n\ndef f(x):\n    global HANDLE\n"
    "    HANDLE = x.register_hook(hook)\n    return x * 2\n",
    "x.register_hook",
    "-     HANDLE = x.register_hook(hook)",
    "+     x.register_hook(hook)",
    inputs=LEAF,
    goes=True,
)
example(
    "GB0104",
    "def f(x):\n    y = x * 2\n    if y.grad_fn is not None:\n        return y + 1\n    return y - 1\n",
    "y.grad_fn",
    "-     if y.grad_fn is not None:",
    "+     if not y.is_leaf:",
    inputs=LEAF,
    goes=True,
)
example(
    "GB0108",
    "def f(x):\n    y = x * 2\n    y.retain_grad()\n    return y + 1\n",
    "y.retain_grad",
    "-     y.retain_grad()",
    inputs=LEAF,
    goes=True,
)
example(
    "GB0140",
    f"{TWICE.rstrip()}\n\n    def more(x):\n        return x + 1\n\ndef f(x):\n    return Twice.more(x) * 2\n",
    "Twice.more",
    "+     @staticmethod",
    inputs=LEAF,
    goes=True,
)
example(
    "GB0144",
    f"{TWICE.rstrip()}\n\n    @staticmethod\n    def jvp(ctx, tangent):\n        return tangent * 2\n"
    "\ndef f(x):\n    return Twice.apply(x) + 1\n",
    "Twice.apply",
    "-     @staticmethod",
    "-     def jvp(ctx, tangent):",
    "-         return tangent * 2",
    inputs=LEAF,
    goes=True,
)
example(
    "GB0145",
    f"{TWICE.replace('backward', 'vjp')}def f(x):\n    return Twice.apply(x) + 1\n",
    "Twice.apply",
    "-     def vjp(ctx, grad):",
    "+     def backward(ctx, grad):",
    inputs=LEAF,
    goes=True,
)
ENGINE = "torch.autograd.Variable._execution_engine"
example(
    "GB0165",
    f"def f(x):\n    return x + int({ENGINE}.is_checkpoint_valid())\n",
    "_engine",
    "- def f(x):",
    "+ def f(x, is_checkpoint_valid):",
    f"-     return x + int({ENGINE}.is_checkpoint_valid())",
    "+     return x + int(is_checkpoint_valid)",
    f"+ f(x, {ENGINE}.is_checkpoint_valid())",
    inputs="torch.ones(3)",
    goes=True,
    same=True,
)
example(
    "GB0165",
    f"def f(x):\n    {ENGINE}.is_checkpoint_valid()\n    return x + 1\n",
    "_engine",
    f"-     {ENGINE}.is_checkpoint_valid()",
    inputs="torch.ones(3)",
    goes=True,
    same=True,
)
example(
    "GB0166",
    f"def f(x):\n    {ENGINE}.queue_callback(print)\n    return x + 1\n",
    "_engine",
    f"-     {ENGINE}.queue_callback(print)",
    "+ print()",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0225",
    "def f(x):\n    w = torch.ones(3, requires_grad=True)\n    return x * w\n",
    "torch.ones(",
    "-     w = torch.ones(3, requires_grad=True)",
    "+     w = torch.ones(3)",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0264",
    "def f(x):\n    w = torch.nn.Parameter(x * 2)\n    return x * w\n",
    "Parameter(",
    "-     w = torch.nn.Parameter(x * 2)",
    "+     w = x * 2",
    inputs="torch.ones(3)",
    goes=True,
)
NEW_TENSOR = ("-         ctx.mark_dirty(x)", "-         x.mul_(2)", "+         x = x.mul(2)")
example(
    "GB2464",
    TWICE.replace("return x * 2", "ctx.mark_dirty(x)\n        x.mul_(2)\n        return x + 1")
    + "def f(x):\n    return Twice.apply(x * 1)\n",
    "Twice.apply",
    *NEW_TENSOR,
    inputs=LEAF,
    goes=True,
)
SQUARE = "def f(x):\n    y = (x * x).sum()\n    a = torch.autograd.grad(y, x)[0]\n"
TRACED = {"trace_autograd_ops": True}
example(
    "GB1381",
    f"{SQUARE}    b = torch.autograd.grad(y, x)[0]\n    return a + b\n",
    "b = torch",
    "-     a = torch.autograd.grad(y, x)[0]",
    "+     a = torch.autograd.grad(y, x, retain_graph=True)[0]",
    inputs=LEAF,
    goes=True,
    settings=TRACED,
)
example(
    "GB4927",
    f"{SQUARE}    return a, y\n",
    "a = torch",
    "-     a = torch.autograd.grad(y, x)[0]",
    "+     a = torch.autograd.grad(y, x, retain_graph=True)[0]",
    inputs=LEAF,
    goes=True,
    settings=TRACED,
)
example(
    "GB7444",
    "def hook(grad):\n    return grad + 1 if grad.is_contiguous() else grad\n\ndef f(x):\n    y = x * 2\n"
    "    y.register_hook(hook)\n    return y + 1\n",
    "y.register_hook",
    "-     return grad + 1 if grad.is_contiguous() else grad",
    "+     return grad.contiguous() + 1",
    inputs=LEAF,
    goes=True,
    same=True,
)
example(
    "GB8985",
    "def f(x):\n    y = (x * 2).requires_grad_()\n    return y + 1\n",
    "requires_grad_",
    "-     y = (x * 2).requires_grad_()",
    "+     y = (x * 2)",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0373",
    "def f(x):\n    y = (x * x).sum()\n    return torch.autograd.grad(y, x)[0]\n",
    "autograd.grad",
    "+ torch._dynamo.config.compiled_autograd = False",
    inputs=LEAF,
    goes=True,
    settings={**TRACED, "compiled_autograd": True},
)
example(
    "GB5748",
    "W = torch.ones(3, requires_grad=True)\nEDGE = torch.autograd.graph.get_gradient_edge(W)\n\n"
    "def f(x):\n    return torch.autograd.grad((x * W).sum(), EDGE)[0]\n",
    "return torch",
    "- EDGE = torch.autograd.graph.get_gradient_edge(W)",
    "+ EDGE = W",
    inputs="torch.ones(3)",
    goes=True,
    same=True,
    settings=TRACED,
)
example(
    "GB2019",
    TWICE.replace("return x * 2", "ctx.mark_dirty(x)\n        x.mul_(2)\n        return x + 1")
    + "def f(x):\n    return Twice.apply(x * 1)\n",
    "ctx.mark_dirty",
    *NEW_TENSOR,
    inputs=LEAF,
    goes=True,
)
