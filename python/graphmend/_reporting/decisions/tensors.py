"""Decisions about tensors: their layout, memory, device, subclass, and what shape an operator's result has."""

from graphmend._reporting.changes import (
    as_subclass,
    keep_dtype,
    number_of_classes,
    plain_tensor,
    remove_statement,
    same_object,
    set_keyword,
    strided_view,
    strip_method,
    to_left_device,
    write_into,
)
from graphmend._reporting.changes_classes import through_class
from graphmend._reporting.changes_elsewhere import jagged, register_shape
from graphmend._reporting.changes_outside import moved_before, passed_in, passed_in_dense
from graphmend._reporting.changes_values import pointer_in_place
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import attribute, call, call_of_class, comparison_of, method, of_kind, operator_call

_JAGGED = (
    "make it with `layout=torch.jagged`, which Dynamo traces, or pad to one tensor with a mask; strided ones stay "
    "outside of the compiled part"
)

DECISIONS = (
    Decision(
        "GB0001",
        "Argument of `as_subclass` must be a non-dispatcher-style tensor subclass",
        "whether the compiled part needs the subclass, or the plain numbers that {it} starts from",
        "go on with the plain tensor and make the subclass from the result; a subclass with `__torch_dispatch__`, or "
        "one that is made while tracing, is not entered by `as_subclass`",
        method("as_subclass"),
        plain_tensor,
    ),
    Decision(
        "GB0015",
        "Attempted to wrap sparse Tensor",
        "whether {it} has to work on a sparse tensor",
        "pass the tensor in as `to_dense()` if it fits, or pass its indices and values in as tensors of their own",
        method(),
        passed_in,
    ),
    Decision(
        "GB0016",
        "Attempted to wrap strided NestedTensor",
        "which layout the nested tensor in {it} has",
        _JAGGED,
        change=jagged,
    ),
    Decision(
        "GB0026",
        "Calling subclass default constructor with more than tensor argument",
        "whether {it} has to make its numbers and its subclass in one step",
        "make a plain tensor first and view it as the subclass; `as_subclass` does not run an `__init__` of your own",
        call_of_class,
        as_subclass,
    ),
    Decision(
        "GB0037",
        "Dynamic shape operator (no meta kernel)",
        "what is known ahead about the size of the result of {it}, which depends on values",
        "register a rule that makes the size a symbol (`torch.library.get_ctx().new_dynamic_size()`), or call it "
        "before the compiled part",
        operator_call,
        register_shape,
    ),
    Decision(
        "GB0044",
        "Encountered strided NestedTensor in automatic dynamic dim determination",
        "which layout the nested tensor has that {it} is the first to use",
        _JAGGED,
        change=jagged,
    ),
    Decision(
        "GB0058",
        "Failed to set tensor attribute",
        "whether {it} is to write into the tensor, or to give it another attribute",
        "write by a method that Dynamo traces (`copy_` into the view), or set it outside of the compiled part",
        of_kind("Assign"),
        write_into,
    ),
    Decision(
        "GB0087",
        "NotImplementedError/UnsupportedFakeTensorException when running FX node",
        "what shape and dtype the result of {it} has, which the operator does not say without running",
        "register a rule for it by `torch.library.register_fake`, or call it outside of the compiled part",
        operator_call,
        register_shape,
    ),
    Decision(
        "GB0090",
        "Operator does not support running with fake tensors",
        "what shape and dtype the result of the operator in {it} has",
        "register a rule for it by `torch.library.register_fake`, which computes the shape from those that come in",
        operator_call,
        register_shape,
    ),
    Decision(
        "GB0103",
        "Tensor subclass overridden method call",
        "whether {it} is to run your subclass's own method or `__torch_function__`",
        "call your own through its class, or give it a name that `torch.Tensor` does not have, or handle it in "
        "`__torch_function__`",
        method(),
        through_class,
    ),
    Decision(
        "GB0128",
        "Unsupported Tensor.set_() call",
        "whether {it} has to exchange the memory of the tensor, or may take a view of another one's",
        "give `set_` one tensor, made by `as_strided`; or copy the values by `copy_`",
        method("set_"),
        strided_view,
    ),
    Decision(
        "GB0129",
        "Unsupported Tensor.sparse_resize_() call",
        "whether the sparse tensor has to change its size by {it} in the compiled part",
        "resize it before the compiled part, or make a new one of the size it needs",
        method("sparse_resize_"),
        moved_before,
    ),
    Decision(
        "GB0130",
        "Unsupported Tensor.sparse_resize_and_clear_() call",
        "whether the sparse tensor has to be emptied by {it} in the compiled part",
        "make an empty one of that size before the compiled part, in place of clearing this one",
        method("sparse_resize_and_clear_"),
        moved_before,
    ),
    Decision(
        "GB0163",
        "Unsupported tensor subclass attribute access",
        "whether the compiled part needs what {it} tells of the subclass's tensor",
        "read it before the compiled part, and pass it in",
        attribute(),
        passed_in,
    ),
    Decision(
        "GB0164",
        "Unsupported tensor subclass overridden attribute access",
        "whether {it} means the subclass's own attribute or the tensor's",
        "read your own from its class, give it a name that `torch.Tensor` does not have, or make it a property",
        attribute(),
        through_class,
    ),
    Decision(
        "GB0220",
        "Failed to mutate tensor data attribute to different dtype",
        "whether the tensor is to have another dtype after {it}",
        "if it is not, convert the values back to its dtype; if it is, convert before the compiled part",
        of_kind("Assign"),
        keep_dtype,
    ),
    Decision(
        "GB0233",
        "Attempted to use strided NestedTensor",
        "which layout {it} makes",
        _JAGGED,
        call("nested_tensor"),
        set_keyword("layout", "torch.jagged"),
    ),
    Decision(
        "GB0246",
        "Attempted to use `torch.nn.functional.one_hot` with data-dependent output shape",
        "how many classes {it} has; without a number, the largest value says it",
        "say how many classes there are: `num_classes=…`, and write the number for `...`",
        call("one_hot"),
        number_of_classes,
    ),
    Decision(
        "GB0250",
        "ndarray.astype(object)",
        "whether {it} has to hold Python's objects, which no tensor can",
        "keep the numbers as they are, and make objects of them after the compiled part",
        method("astype"),
        strip_method,
    ),
    Decision(
        "GB0277",
        "Attempted to wrap sparse Tensor with VariableTracker",
        "whether what {it} makes has to be sparse",
        "stay dense in the compiled part, or make the tensor sparse before or after it",
        method("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_coo"),
        strip_method,
    ),
    Decision(
        "GB0374",
        "Sparse tensor creation not supported",
        "whether the sparse tensor of {it} has to be made in the compiled part",
        "make it before and pass it in by `to_dense()`, or work with its indices and values (`index_add`, "
        "`scatter_add`) on dense ones",
        call(),
        passed_in_dense,
    ),
    Decision(
        "GB4197",
        "Unsupported Tensor.share_memory_() call",
        "whether {it} has to move the tensor to shared memory in the compiled part",
        "move it before or after: call `share_memory_` on what the compiled part takes or returns",
        method("share_memory_"),
        strip_method,
    ),
    Decision(
        "GB5173",
        "Tensor device mismatch",
        "on which device {it} is to be computed",
        "move one of the tensors; best where it is made, so that it is not copied in each call",
        of_kind("BinOp"),
        to_left_device,
    ),
    Decision(
        "GB5976",
        "Data pointer comparison",
        "whether {it} asks for the same memory, or for the same tensor",
        "`is` compares the tensors; whether two tensors overlap is asked before the compiled part",
        comparison_of("data_ptr"),
        same_object,
    ),
    Decision(
        "GB7650",
        "torch.Generator method",
        "whether the stream of random numbers is to be set by {it} in every call",
        "call it before the compiled part, each time that the stream is to start anew",
        method("manual_seed", "seed", "set_state", "set_offset"),
        remove_statement,
    ),
    Decision(
        "GB3326",
        "invalid ptr argument for create_tma_descriptor",
        "which tensor's memory the descriptor in {it} is of",
        "write the tensor's `data_ptr()` in the call itself, with no break between the two",
        call("create_1d_tma_descriptor", "create_2d_tma_descriptor"),
        pointer_in_place,
    ),
)
