# SPDX-License-Identifier: MIT
"""PyTorch's GELU, as it is and compiled, for both ladders."""


def pytorch(form, compiled):
    """make of a contestant: F.gelu in one of its two forms."""
    def make(torch, problem):
        gelu = torch.nn.functional.gelu
        function = torch.compile(lambda x: gelu(x, approximate=form)) if compiled else lambda x: gelu(x, approximate=form)
        return lambda: function(*problem.inputs)
    return make


CONTESTANTS = [(ladder, name, pytorch(form, name != "torch")) for ladder, form in (("gelu", "none"), ("gelu_tanh", "tanh"))
               for name in ("torch", "torch.compile")]
