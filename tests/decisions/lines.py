"""Examples of types that no small program of one process shows with torch's own settings: their lines alone."""

from .examples import example


def line(number: str, text: str, *rows: str, head: str = "", message: str = "") -> None:
    """The line breaks in a function."""
    indented = [f"{row[:2]}    {row[2:]}" if row.startswith(("- ", "+ ")) else row for row in rows]
    example(number, f"{head}def f(x):\n    {text}\n    return x\n", text, *indented, message=message)


def added(number: str, text: str, *rows: str, head: str = "", message: str = "") -> None:
    """The line breaks in a function, and other lines are added."""
    example(number, f"{head}def f(x):\n    {text}\n    return x\n", text, *rows, message=message)


PARAMETER = ("w = torch.nn.Parameter(x * 2)", "- w = torch.nn.Parameter(x * 2)", "+ w = x * 2")

added("GB0014", "y, _ = self.lstm(x)", "+ torch._dynamo.config.allow_rnn = True")
NESTED = "NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])\n\n"
JAGGED = (
    "- NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "+ NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)",
)
FORWARD = "    def forward(self, x):\n        return self.scale * x\n"
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
line("GB0101", "HANDLE = x.register_hook(hook)", "- HANDLE = x.register_hook(hook)", "+ x.register_hook(hook)")
line(
    "GB0202",
    "y = list(self.named_parameters(prefix))",
    "- y = list(self.named_parameters(prefix))",
    "+ y = list(self.named_parameters(...))",
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
KEY = "mp_subscript_impl: NNModuleVariable() TensorVariable()"
line("GB0153", "y = self.layers[i](x)", "- y = self.layers[i](x)", "+ y = self.layers[int(i)](x)", message=KEY)
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
line("GB4197", "y = (x + 1).share_memory_()", "- y = (x + 1).share_memory_()", "+ y = (x + 1)")
line(
    "GB5173",
    "y = x + self.bias",
    "- y = x + self.bias",
    "+ y = x + self.bias.to(x.device)",
    message="call_function <built-in function add>",
)
example(
    "GB7324",
    "def f(x):\n    y = (x * 2).requires_grad_()\n    return y + 1\n",
    "return y",
    "-     y = (x * 2).requires_grad_()",
    "+     y = (x * 2)",
)
