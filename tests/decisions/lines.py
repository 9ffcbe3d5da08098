"""Examples of types that no small program of one process shows with torch's own settings: their lines alone."""

from .examples import example


def line(number: str, text: str, *rows: str, head: str = "", message: str = "") -> None:
    """The line breaks in a function."""
    indented = [f"{row[:2]}    {row[2:]}" if row.startswith(("- ", "+ ")) else row for row in rows]
    example(number, f"{head}def f(x):\n    {text}\n    return x\n", text, *indented, message=message)


def added(number: str, text: str, *rows: str, head: str = "", message: str = "") -> None:
    """The line breaks in a function, and other lines are added."""
    example(number, f"{head}def f(x):\n    {text}\n    return x\n", text, *rows, message=message)


def method(number: str, text: str, *rows: str, head: str = "", message: str = "") -> None:
    """The line breaks in a module's `forward`."""
    source = f"{head}class Net(torch.nn.Module):\n    def forward(self, x):\n        {text}\n        return x\n"
    example(number, source, text, *rows, message=message)


PARAMETER = ("w = torch.nn.Parameter(x * 2)", "- w = torch.nn.Parameter(x * 2)", "+ w = x * 2")

added("GB0014", "y, _ = self.lstm(x)", "+ torch._dynamo.config.allow_rnn = True")
NESTED = "NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])\n\n"
JAGGED = (
    "- NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "+ NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)",
)
OWN_READ = "    def __getattribute__(self, name):\n        {}\n        return super().__getattribute__(name)\n\n"
FORWARD = "    def forward(self, x):\n        return self.scale * x\n"
example(
    "GB0031",
    "class Net(torch.nn.Module):\n" + OWN_READ.format('if name == "scale":\n            return load_scale()') + FORWARD,
    "return self.scale",
    "-     def __getattribute__(self, name):",
    '-         if name == "scale":',
    "-             return load_scale()",
    "-         return super().__getattribute__(name)",
    "+     @property",
    "+     def scale(self):",
    "+         return load_scale()",
)
example(
    "GB0031",
    "class Net(torch.nn.Module):\n" + OWN_READ.format("READS.append(name)") + FORWARD,
    "return self.scale",
    "-     def __getattribute__(self, name):",
    "-         READS.append(name)",
    "-         return super().__getattribute__(name)",
)
example(
    "GB0035",
    "class Box:\n    def __init__(self, mask):\n        self.mask = mask\n\n    def __bool__(self):\n"
    "        return bool(self.mask.any())\n\ndef f(x, box):\n    return x if not box else -x\n",
    "not box",
    "-     return x if not box else -x",
    "+     return x if not box.mask.any() else -x",
)
RULE = (
    '+ @torch.library.register_fake("mine::pick")',
    "+ def shape_of_pick(*args, **kwargs):",
    "+     return torch.empty(...)",
)
added("GB0037", "y = torch.ops.mine.pick(x)", *RULE)
added(
    "GB0039",
    "y = x * self.step",
    "+ torch._dynamo.config.recompile_limit = ...",
    message="Developer debug context: Limit type: recompile_limit",
)
added("GB0044", "y = NESTED.sum()", *JAGGED, head=NESTED)
added(
    "GB0053",
    "y = MODEL(x)",
    "- MODEL = FSDP(net, use_orig_params=False)",
    "+ MODEL = FSDP(net, use_orig_params=True)",
    head="MODEL = FSDP(net, use_orig_params=False)\n\n",
)
example(
    "GB0097",
    "import collections\n\nLAST = collections.deque(maxlen=2)\n\ndef f(x):\n    LAST.append(x)\n    return x\n",
    "LAST.append",
    "- LAST = collections.deque(maxlen=2)",
    "+ LAST = collections.deque()",
    "+     if len(LAST) > 2:",
    "+         LAST.popleft()",
)
line("GB0101", "HANDLE = x.register_hook(hook)", "- HANDLE = x.register_hook(hook)", "+ x.register_hook(hook)")
line(
    "GB0103",
    "y = mine.relu()",
    "- y = mine.relu()",
    "+ y = Mine.relu(mine)",
    head="class Mine(torch.Tensor):\n    def relu(self):\n        return self * 2\n\n",
)
method(
    "GB0121",
    'self.register_buffer("seen", x)',
    '-         self.register_buffer("seen", x)',
    '+ model.register_buffer("seen", x)',
)
example(
    "GB0138",
    "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x * 2\n\ndef f(x):\n    return Twice.forward(CTX, x) + 1\n",
    "ctx.save",
    "-     return Twice.forward(CTX, x) + 1",
    "+     return Twice.apply(x) + 1",
)
line("GB0139", "ctx.set_materialize_grads(False)", "- ctx.set_materialize_grads(False)")
KEY = "mp_subscript_impl: NNModuleVariable() TensorVariable()"
line("GB0153", "y = self.layers[i](x)", "- y = self.layers[i](x)", "+ y = self.layers[int(i)](x)", message=KEY)
example(
    "GB0161",
    "class Net(torch.nn.Module):\n    scale = Scale(2)\n\n    def forward(self, x):\n        return x * self.scale\n",
    "return x",
    "-     scale = Scale(2)",
    "+     scale = ...",
)
added(
    "GB0177",
    "y = x * READER.size()",
    "- def f(x):",
    "+ def f(x, size):",
    "-     y = x * READER.size()",
    "+     y = x * size",
    "+ f(x, READER.size())",
    head="from files import open_reader\n\nREADER = open_reader()\n\n",
)
example(
    "GB0177",
    "class Net(torch.nn.Module):\n    def __init__(self, reader):\n        super().__init__()\n"
    "        self.reader = reader\n\n    def forward(self, x):\n        return x * self.reader.size()\n",
    "return x",
    "-     def forward(self, x):",
    "+     def forward(self, x, size):",
    "-         return x * self.reader.size()",
    "+         return x * size",
    "+ model(x, model.reader.size())",
)
example(
    "GB0256",
    "class Net(torch.nn.Module):\n    def __init__(self, reader):\n        super().__init__()\n"
    "        self.reader = reader\n\n    def forward(self, x):\n        return x * self.reader.scale\n",
    "return x",
    "+         self.reader_scale = self.reader.scale",
    "-         return x * self.reader.scale",
    "+         return x * self.reader_scale",
    part="self.reader.scale",
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
line(
    "GB0202",
    "y = list(self.named_parameters(prefix))",
    "- y = list(self.named_parameters(prefix))",
    "+ y = list(self.named_parameters(...))",
)
example(
    "GB0209",
    "def f(x):\n    keep = torch.autograd._unsafe_preserve_version_counter(x)\n    with keep:\n        x.add_(1)\n"
    "    return x\n",
    "keep = ",
    "-     keep = torch.autograd._unsafe_preserve_version_counter(x)",
    "-     with keep:",
    "+     with torch.autograd._unsafe_preserve_version_counter(x):",
)
example(
    "GB0211",
    f'SCALES = {{"scale": 2}}\n\nclass Net(torch.nn.Module):\n    __getattr__ = SCALES.get\n\n{FORWARD}',
    "return self.scale",
    "-     __getattr__ = SCALES.get",
    "+     def __getattr__(self, name):",
    "+         return SCALES.get(name)",
)
line(
    "GB0216",
    "kernel[triton.cdiv(size, 128)](x, size)",
    "- kernel[triton.cdiv(size, 128)](x, size)",
    "+ kernel[(triton.cdiv(size, 128),)](x, size)",
)
for number in ("GB0227", "GB0228", "GB0235", "GB0244"):
    line(number, *PARAMETER)
example(
    "GB0271",
    'def f(x):\n    y = x * Shared.__dict__["scale"]\n    Shared.scale = 2\n    return y\n',
    "Shared.scale = ",
    '-     y = x * Shared.__dict__["scale"]',
    "+     y = x * Shared.scale",
)
line(
    "GB0279",
    'note = torch.fx.traceback.annotate({"stage": 1})',
    '- note = torch.fx.traceback.annotate({"stage": 1})',
)
line("GB0281", "y = self.experts[index]", "- y = self.experts[index]", "+ y = self.experts[int(index)]", message=KEY)
example(
    "GB0358",
    "def f(optimizer, closure):\n    optimizer.step(closure)\n",
    "optimizer.step",
    "-     optimizer.step(closure)",
    "+     optimizer.step()",
    "+ closure()",
)
line(
    "GB0361",
    "kernel.run(x, 128, grid=(1,), warmup=False)",
    "- kernel.run(x, 128, grid=(1,), warmup=False)",
    "+ kernel[(1,)](x, 128)",
)
example(
    "GB0372",
    "def f(x, hidden):\n    y = (x * hidden).sum()\n    return torch.autograd.grad(y, x)[0]\n",
    "autograd.grad",
    "+     hidden = hidden.detach()",
    message="inputs with external grad_fn: [\"L['hidden']\"]",
)
SLOT = ("+ torch._dynamo.allow_c_slot(decimal.Decimal)",)
PRICE = "import decimal\n\nPRICE = decimal.Decimal('1.5')\n\n"
added("GB1220", "y = PRICE > LIMIT", *SLOT, head=PRICE, message="Decimal defines a C comparison method that")
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
)
example(
    "GB2549",
    "import itertools\n\ndef f(x):\n    for step in itertools.count():\n        x = x + step\n    return x\n",
    "for step",
    "-     for step in itertools.count():",
    "+     for step in itertools.islice(itertools.count(), ...):",
)
added("GB2861", "y = TABLE[PRICE]", *SLOT, head=PRICE, message="Decimal defines a C __hash__ that")
example(
    "GB3326",
    "def f(x, size):\n    pointer = x.data_ptr()\n    block = create_1d_tma_descriptor(pointer, size, 64, 4)\n"
    "    return block\n",
    "block = ",
    "-     pointer = x.data_ptr()",
    "-     block = create_1d_tma_descriptor(pointer, size, 64, 4)",
    "+     block = create_1d_tma_descriptor(x.data_ptr(), size, 64, 4)",
)
added(
    "GB3383",
    "options = Options(scale=2)",
    "+ OPTIONS = Options(scale=2)",
    "+ ",
    "-     options = Options(scale=2)",
    "+     options = OPTIONS",
    head="from settings import Options\n\n",
    message="<class 'settings.Options'>",
)
line("GB4197", "y = (x + 1).share_memory_()", "- y = (x + 1).share_memory_()", "+ y = (x + 1)")
example(
    "GB4778",
    "def f(x):\n    y = lambda z: z + x\n    return x + 1, y\n",
    "y = lambda",
    "-     y = lambda z: z + x",
    "+     y = x",
    "+ x = f(x)[1]",
    "+ y = lambda z: z + x",
)
line(
    "GB5173",
    "y = x + self.bias",
    "- y = x + self.bias",
    "+ y = x + self.bias.to(x.device)",
    message="call_function <built-in function add>",
)
added(
    "GB5458",
    "y = x * Shared.scale",
    "+ SHARED_SCALE = Shared.scale",
    "+ ",
    "-     y = x * Shared.scale",
    "+     y = x * SHARED_SCALE",
    head="from settings import Shared\n\n",
)
added(
    "GB5748",
    "y = torch.autograd.grad(x.sum(), EDGE)",
    "- EDGE = torch.autograd.graph.get_gradient_edge(WEIGHT)",
    "+ EDGE = WEIGHT",
    head="EDGE = torch.autograd.graph.get_gradient_edge(WEIGHT)\n\n",
)
example(
    "GB7324",
    "def f(x):\n    y = (x * 2).requires_grad_()\n    return y + 1\n",
    "return y",
    "-     y = (x * 2).requires_grad_()",
    "+     y = (x * 2)",
)
