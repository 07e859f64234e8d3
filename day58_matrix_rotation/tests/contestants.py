# SPDX-License-Identifier: MIT
"""PyTorch's rotations. `rot90` alone is a view where nothing is mirrored; `contiguous()` does the work. Any angle is `grid_sample` with a
grid that is made each time, as a caller who turns a picture once has to make it."""
import math

from contestants import Skip


def picture(torch, problem):
    flat = problem.inputs[0]
    if flat.dtype == torch.uint32:  # which PyTorch mirrors as signed numbers alone
        flat = flat.view(torch.int32)
    return flat.view(problem.shape["height"], problem.shape["width"])


def rotated(quarters, compiled):
    def make(torch, problem):
        image, out = picture(torch, problem), problem.outputs[0]
        turn = lambda x: torch.rot90(x, quarters).contiguous()
        if compiled:
            turn = torch.compile(turn)
        return lambda: turn(image).view(out.dtype).view(out.shape)
    return make


def sampled(torch, problem):
    if problem.inputs[0].dtype != torch.float32:
        raise Skip("grid_sample takes floats alone")
    height, width = problem.shape["height"], problem.shape["width"]
    angle = math.radians(problem.shape["degrees"])
    image, out = problem.inputs[0].view(1, 1, height, width), problem.outputs[0]
    tall = (height - 1) / (width - 1)  # its coordinates go from -1 to 1 in both directions
    matrix = torch.tensor([[[math.cos(angle), -math.sin(angle) * tall, 0], [math.sin(angle) / tall, math.cos(angle), 0]]],
                          dtype=torch.float32, device=image.device)

    def turn():
        grid = torch.nn.functional.affine_grid(matrix, image.shape, align_corners=True)
        return torch.nn.functional.grid_sample(image, grid, align_corners=True).view(out.shape)
    return turn


CONTESTANTS = [("quarter", "torch rot90", rotated(1, False)), ("quarter", "torch.compile", rotated(1, True)),
               ("half", "torch rot90", rotated(2, False)), ("half", "torch.compile", rotated(2, True)),
               ("turn", "torch grid_sample", sampled)]
