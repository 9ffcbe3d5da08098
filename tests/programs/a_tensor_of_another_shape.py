"""A tensor whose shape or history is changed in place has the new one by each of its names."""

import torch


def f(x, weight, moved):
    print(x.sum().item())
    own = x * 2
    same = own
    own.unsqueeze_(0)
    turned = x * 3
    kept = turned.contiguous()
    turned.t_()
    trained = x * 4
    view = trained.view(-1)
    trained += weight
    moved.t_()
    shapes = same.shape, len(same), same.dim(), same.tolist(), kept.stride(), kept.shape
    return shapes, view.requires_grad, trained.requires_grad, weight.type_as(x).grad, x._base is None, moved._base is None


WEIGHT = torch.ones(3, requires_grad=True)
WEIGHT.grad = torch.ones(3)
INPUTS = [torch.ones(2, 3), torch.ones(3, 2).t(), torch.ones(3, 2).t_()]
CALLS = [(each, WEIGHT, torch.ones(2, 4)) for each in INPUTS]
