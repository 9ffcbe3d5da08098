"""Examples of types that no small program of one process shows with torch's own settings: what is run is the change.

With `whole` the changed program has no break at all.
"""

from .examples import example
from .gradients import LEAF

ONES = "torch.ones(3)"
OWN_READ = "    def __getattribute__(self, name):\n        {}\n        return super().__getattribute__(name)\n\n"
FORWARD = "    def forward(self, x):\n        return self.scale * x\n\nf = Net()\n"
HOLDER = """
class Reader:
    scale = 2

    def size(self):
        return 3

class Net(torch.nn.Module):
    def __init__(self, reader):
        super().__init__()
        self.reader = reader

    def forward(self, x):
        return x * self.reader.{}

f = Net(Reader())
"""

example(
    "GB0031",
    "class Net(torch.nn.Module):\n" + OWN_READ.format('if name == "scale":\n            return abs(-2)') + FORWARD,
    "return self.scale",
    "-     def __getattribute__(self, name):",
    '-         if name == "scale":',
    "-             return abs(-2)",
    "-         return super().__getattribute__(name)",
    "+     @property",
    "+     def scale(self):",
    "+         return abs(-2)",
    whole=ONES,
    same=True,
)
example(
    "GB0031",
    "READS = []\n\nclass Net(torch.nn.Module):\n    scale = 2\n\n" + OWN_READ.format("READS.append(name)") + FORWARD,
    "return self.scale",
    "-     def __getattribute__(self, name):",
    "-         READS.append(name)",
    "-         return super().__getattribute__(name)",
    whole=ONES,
    same=True,
)
example(
    "GB0035",
    "class Box:\n    def __init__(self, mask):\n        self.mask = mask\n\n    def __bool__(self):\n"
    "        return bool(self.mask.any())\n\ndef f(x):\n    box = Box(x > 0)\n    return x if not box else -x\n",
    "not box",
    "-     return x if not box else -x",
    "+     return x if not box.mask.any() else -x",
    whole=ONES,
    same=True,
)
example(
    "GB0097",
    "import collections\n\nLAST = collections.deque(maxlen=2)\n\ndef f(x):\n    LAST.append(x)\n"
    "    return x + len(LAST)\n",
    "LAST.append",
    "- LAST = collections.deque(maxlen=2)",
    "+ LAST = collections.deque()",
    "+     if len(LAST) > 2:",
    "+         LAST.popleft()",
    whole=ONES,
    same=True,
)
example(
    "GB0103",
    "class Mine(torch.Tensor):\n    def relu(self):\n        return self * 2\n\ndef f(x):\n"
    "    mine = x.as_subclass(Mine)\n    y = mine.relu()\n    return y + 1\n",
    "mine.relu",
    "-     y = mine.relu()",
    "+     y = Mine.relu(mine)",
    whole=ONES,
)
example(
    "GB0121",
    'class Net(torch.nn.Module):\n    def forward(self, x):\n        self.register_buffer("seen", x)\n'
    "        return x + 1\n\nf = Net()\n",
    "self.register",
    '-         self.register_buffer("seen", x)',
    '+ model.register_buffer("seen", x)',
    whole=ONES,
    same=True,
)
TWICE = "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        {}\n"
BACKWARD = (
    "        return x * 2\n\n    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n\ndef f(x):\n"
)
example(
    "GB0138",
    TWICE.format("ctx.save_for_backward(x)")
    + BACKWARD
    + "    ctx = torch.autograd.function.FunctionCtx()\n    return Twice.forward(ctx, x) + 1\n",
    "ctx.save",
    "-     return Twice.forward(ctx, x) + 1",
    "+     return Twice.apply(x) + 1",
    whole=LEAF,
    same=True,
)
example(
    "GB0139",
    TWICE.format("ctx.set_materialize_grads(False)") + BACKWARD + "    return Twice.apply(x) + 1\n",
    "ctx.set",
    "-         ctx.set_materialize_grads(False)",
    whole=LEAF,
    same=True,
)
example(
    "GB0161",
    "class Scale:\n    def __get__(self, owner, kind=None):\n        return 2\n\n"
    f"class Net(torch.nn.Module):\n    scale = Scale()\n\n{FORWARD}",
    "return self.scale",
    "-     scale = Scale()",
    "+     scale = ...",
    whole=ONES,
    same=True,
    fill="2",
)
example(
    "GB0177",
    "class Reader:\n    def size(self):\n        return 3\n\nREADER = Reader()\n\n"
    "def f(x):\n    return x * READER.size()\n",
    "return x",
    "- def f(x):",
    "+ def f(x, size):",
    "-     return x * READER.size()",
    "+     return x * size",
    "+ f(x, READER.size())",
    whole=ONES,
    same=True,
)
example(
    "GB0177",
    HOLDER.format("size()"),
    "return x",
    "-     def forward(self, x):",
    "+     def forward(self, x, size):",
    "-         return x * self.reader.size()",
    "+         return x * size",
    "+ model(x, model.reader.size())",
    whole=ONES,
    same=True,
)
example(
    "GB0194",
    "def f(x, slot, *, scale=1, **more):\n    is_set = isinstance(slot, torch.Tensor)\n    return x * is_set\n",
    "isinstance",
    "- def f(x, slot, *, scale=1, **more):",
    "+ def f(x, slot, *, scale=1, is_set, **more):",
    "-     is_set = isinstance(slot, torch.Tensor)",
    "+ f(x, slot, scale=scale, is_set=isinstance(slot, torch.Tensor), **more)",
)
example(
    "GB0194",
    "def f(x, slot):\n    is_set = isinstance(slot, torch.Tensor)\n    return x * is_set\n",
    "isinstance",
    "- def f(x, slot):",
    "+ def f(x, slot, is_set):",
    "-     is_set = isinstance(slot, torch.Tensor)",
    "+ f(x, slot, isinstance(slot, torch.Tensor))",
    whole=f"{ONES}, 2",
    same=True,
)
example(
    "GB0209",
    "def f(x):\n    keep = torch.autograd._unsafe_preserve_version_counter(x)\n    with keep:\n        x.add_(1)\n"
    "    return x * 2\n",
    "keep = ",
    "-     keep = torch.autograd._unsafe_preserve_version_counter(x)",
    "-     with keep:",
    "+     with torch.autograd._unsafe_preserve_version_counter(x):",
    whole=ONES,
    same=True,
)
example(
    "GB0256",
    HOLDER.format("scale"),
    "return x",
    "+         self.reader_scale = self.reader.scale",
    "-         return x * self.reader.scale",
    "+         return x * self.reader_scale",
    part="self.reader.scale",
    whole=ONES,
    same=True,
)
example(
    "GB0271",
    "class Shared:\n    scale = 1\n\ndef f(x):\n"
    '    y = x * Shared.__dict__["scale"]\n    Shared.scale = 2\n    return y\n',
    "Shared.scale = ",
    '-     y = x * Shared.__dict__["scale"]',
    "+     y = x * Shared.scale",
    whole=ONES,
    same=True,
)
example(
    "GB0279",
    'def f(x):\n    note = torch.fx.traceback.annotate({"stage": 1})\n    y = x + 1\n    with note:\n'
    "        return y * 2\n",
    "note = ",
    '-     note = torch.fx.traceback.annotate({"stage": 1})',
    "-     with note:",
    '+     with torch.fx.traceback.annotate({"stage": 1}):',
    whole=ONES,
    same=True,
)
example(
    "GB0279",
    'def f(x):\n    note = torch.fx.traceback.annotate({"stage": 1})\n    return x + 1\n',
    "note = ",
    '-     note = torch.fx.traceback.annotate({"stage": 1})',
    whole=ONES,
    same=True,
)
example(
    "GB1319",
    "def f(x):\n    class Box:\n        def __init__(self, value):\n            self.value = value\n\n"
    "    y = Box(x)\n    return y\n",
    "y = Box",
    "+ class Box:",
    "+     def __init__(self, value):",
    "+         self.value = value",
    "+ ",
    "+ ",
    "-     class Box:",
    "-         def __init__(self, value):",
    "-             self.value = value",
    message="Class: Box",
    whole=ONES,
)
example(
    "GB3383",
    "import dataclasses\n\n@dataclasses.dataclass\nclass Options:\n    scale: int\n\ndef f(x):\n"
    "    options = Options(scale=2)\n    return x * options.scale\n",
    "options = ",
    "+ OPTIONS = Options(scale=2)",
    "+ ",
    "-     options = Options(scale=2)",
    "+     options = OPTIONS",
    message="<class 'm.Options'>",
    whole=ONES,
    same=True,
)
example(
    "GB4778",
    "def f(x):\n    w = x * 2\n    y = lambda z: z + w\n    return x + 1, y\n",
    "y = lambda",
    "-     y = lambda z: z + w",
    "+     y = w",
    "+ w = f(x)[1]",
    "+ y = lambda z: z + w",
    whole=ONES,
)
example(
    "GB5458",
    "class Shared:\n    scale = 2\n\ndef f(x):\n    return x * Shared.scale\n",
    "return x",
    "+ SHARED_SCALE = Shared.scale",
    "+ ",
    "-     return x * Shared.scale",
    "+     return x * SHARED_SCALE",
    whole=ONES,
    same=True,
)
