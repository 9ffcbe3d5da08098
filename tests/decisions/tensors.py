"""Examples about tensors that run."""

from .examples import example

SUBCLASS = """
class Mine(torch.Tensor):
    pass

"""

example(
    "GB0001",
    SUBCLASS
    + """
def made_here():
    return type("Other", (Mine,), {})

def f(x):
    return x.as_subclass(made_here()) + 1
""",
    "return x.as_subclass",
    "-     return x.as_subclass(made_here()) + 1",
    "+     return x + 1",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0015",
    "def f(x):\n    return x.values() + 1\n",
    "x.values()",
    "- def f(x):",
    "+ def f(x, values):",
    "-     return x.values() + 1",
    "+     return values + 1",
    "+ f(x, x.values())",
    inputs="torch.ones(3).to_sparse()",
    goes=True,
    same=True,
)
example(
    "GB0026",
    SUBCLASS + "def f(x):\n    return x + Mine([1.0, 2.0, 3.0])\n",
    "Mine([",
    "-     return x + Mine([1.0, 2.0, 3.0])",
    "+     return x + torch.Tensor([1.0, 2.0, 3.0]).as_subclass(Mine)",
    message="<class 'm.Mine'>(args=[ListVariable()], kwargs={})",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0058",
    "def f(x, y):\n    x.real = y\n    return x + 1\n",
    "x.real",
    "-     x.real = y",
    "+     x.real.copy_(y)",
    inputs="torch.ones(3, dtype=torch.complex64), torch.zeros(3)",
    goes=True,
)
OPERATOR = """
library = torch.library.Library("{space}", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CPU")

def f(x):
    return torch.ops.{space}.twice(x + 1) * 2
"""
example(
    "GB0090",
    OPERATOR.format(space="decided_shape"),
    "torch.ops",
    '+ @torch.library.register_fake("decided_shape::twice")',
    "+ def shape_of_twice(*args, **kwargs):",
    "+     return torch.empty(...)",
    inputs="torch.ones(3)",
    goes=True,
    fill="3",
)
example(
    "GB0043",
    OPERATOR.format(space="decided_tag"),
    "torch.ops",
    "+ torch._dynamo.config.only_allow_pt2_compliant_ops = False",
    inputs="torch.ones(3)",
    goes=True,
    settings={"only_allow_pt2_compliant_ops": True},
)
example(
    "GB0128",
    "def f(x, y):\n    z = x + 1\n    z.set_(y, 0, (2,), (1,))\n    return z\n",
    "z.set_",
    "-     z.set_(y, 0, (2,), (1,))",
    "+     z.set_(y.as_strided((2,), (1,), 0))",
    message="call_method TensorVariable() set_ [TensorVariable(), ConstantVariable(int: 0)",
    inputs="torch.ones(3), torch.zeros(4)",
    goes=True,
)
example(
    "GB0129",
    "def f(x):\n    x.sparse_resize_((3,), 1, 0)\n    return x\n",
    "x.sparse",
    "-     x.sparse_resize_((3,), 1, 0)",
    "+ x.sparse_resize_((3,), 1, 0)",
    inputs="torch.ones(3)",
)
example(
    "GB0163",
    SUBCLASS.replace("pass", "def __deepcopy__(self, memo):\n        return self")
    + "def f(x):\n    return x + 1 if x._base is None else x\n",
    "x._base",
    "- def f(x):",
    "+ def f(x, base):",
    "-     return x + 1 if x._base is None else x",
    "+     return x + 1 if base is None else x",
    "+ f(x, x._base)",
    inputs="torch.ones(3).as_subclass(Mine)",
    goes=True,
)
example(
    "GB0220",
    "def f(x):\n    x.data = x.data.double() * 2\n    return x + 1\n",
    "x.data =",
    "-     x.data = x.data.double() * 2",
    "+     x.data = (x.data.double() * 2).to(x.dtype)",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0233",
    "def f(x):\n    y = torch.nested.nested_tensor([x, x], layout=torch.strided)\n    return y\n",
    "nested_tensor(",
    "-     y = torch.nested.nested_tensor([x, x], layout=torch.strided)",
    "+     y = torch.nested.nested_tensor([x, x], layout=torch.jagged)",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0246",
    "import torch.nn.functional as F\n\ndef f(x):\n    return F.one_hot(x) + 1\n",
    "F.one_hot(",
    "-     return F.one_hot(x) + 1",
    "+     return F.one_hot(x, num_classes=...) + 1",
    inputs="torch.tensor([0, 1, 2])",
    goes=True,
    fill="3",
)
example(
    "GB0246",
    "import torch.nn.functional as F\n\ndef f(x):\n    return F.one_hot(x, -1) + 1\n",
    "F.one_hot(",
    "-     return F.one_hot(x, -1) + 1",
    "+     return F.one_hot(x, ...) + 1",
    inputs="torch.tensor([0, 1, 2])",
    goes=True,
    fill="3",
)
example(
    "GB0250",
    "def f(x):\n    y = x.astype(object)\n    return y\n",
    "x.astype",
    "-     y = x.astype(object)",
    "+     y = x",
    inputs="__import__('numpy').ones(3)",
    goes=True,
)
example(
    "GB0277",
    "def f(x):\n    y = x.to_sparse()\n    return y + y\n",
    "x.to_sparse",
    "-     y = x.to_sparse()",
    "+     y = x",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB5976",
    "def f(x, y):\n    z = x + 1\n    if z.data_ptr() == y.data_ptr():\n        return z + 1\n    return z\n",
    "z.data_ptr()",
    "-     if z.data_ptr() == y.data_ptr():",
    "+     if z is y:",
    inputs="torch.ones(3), torch.ones(3)",
    goes=True,
)
example(
    "GB7650",
    "def f(x, g):\n    g.manual_seed(3)\n    return x + 1\n",
    "g.manual_seed",
    "-     g.manual_seed(3)",
    inputs="torch.ones(3), torch.Generator()",
    goes=True,
)
example(
    "GB0016",
    "def f(x):\n    y = torch.nested.nested_tensor([x, x])\n    return y + 1\n",
    "return y",
    "-     y = torch.nested.nested_tensor([x, x])",
    "+     y = torch.nested.nested_tensor([x, x], layout=torch.jagged)",
    inputs="torch.ones(3)",
    goes=True,
)
example(
    "GB0087",
    OPERATOR.format(space="decided_error").replace(
        "def f", 'def fake(x):\n    raise NotImplementedError\n\nlibrary._register_fake("twice", fake)\n\ndef f'
    ),
    "torch.ops",
    '+ @torch.library.register_fake("decided_error::twice")',
    "+ def shape_of_twice(*args, **kwargs):",
    "+     return torch.empty(...)",
    inputs="torch.ones(3)",
)
example(
    "GB0130",
    "def f(x):\n    x.sparse_resize_and_clear_((3,), 1, 0)\n    return x\n",
    "x.sparse",
    "-     x.sparse_resize_and_clear_((3,), 1, 0)",
    "+ x.sparse_resize_and_clear_((3,), 1, 0)",
    inputs="torch.ones(3)",
)
example(
    "GB0164",
    """
class Mine(torch.Tensor):
    shape = 3

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})

def f(x):
    y = x.as_subclass(Mine)
    return x + y.shape
""",
    "y.shape",
    "-     return x + y.shape",
    "+     return x + Mine.shape",
    goes=True,
    same=True,
    inputs="torch.ones(3)",
)
example(
    "GB0374",
    "def f(x, i):\n    y = torch.sparse_csr_tensor(i, i, x)\n    return y.to_dense() + 1\n",
    "torch.sparse_csr",
    "- def f(x, i):",
    "+ def f(x, i, y):",
    "-     y = torch.sparse_csr_tensor(i, i, x)",
    "+ f(x, i, torch.sparse_csr_tensor(i, i, x).to_dense())",
    goes=True,
    same=True,
    inputs="torch.ones(3), torch.tensor([0, 1, 2])",
)
