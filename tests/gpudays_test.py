#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the installed package gpudays (`pip install .`), with whatever days it was built of: each operator against PyTorch's own, in
values, gradients, opcheck and torch.compile; and what it says to whoever gives it something else. On a GPU the same, there.

    python3 tests/gpudays_test.py"""
import threading
import unittest

import gpudays
import torch
from torch.library import opcheck

DEVICE = "cpu" if gpudays.backend == "simt" else "cuda"
HALVES = (torch.float32, torch.float16, torch.bfloat16)


def normal(*shape, dtype=torch.float32, grad=False, seed=1):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE, dtype)
    return made.requires_grad_() if grad else made


def softmax_grad(y, dy):
    return y * (dy - (y * dy).sum(-1, keepdim=True))


# Of each operator: PyTorch's own, the shapes of its inputs, its types.
VECTORS = [[(1,)] * 2, [(1001,)] * 2, [(3, 1, 129)] * 2, [(0, 4)] * 2, [()] * 2]
ROWS = [(1,), (5,), (3, 7), (2, 3, 33), (4, 1025), (2, 9001), (0, 4)]
OPERATORS = {
    "vector_add": (torch.add, VECTORS, (torch.float32,)),
    "matmul": (torch.matmul, [[(1, 1), (1, 1)], [(33, 5), (5, 17)], [(8, 32), (32, 31)], [(0, 4), (4, 3)]], (torch.float32,)),
    "sigmoid": (torch.sigmoid, [shapes[:1] for shapes in VECTORS], HALVES),
    "sigmoid_backward": (lambda y, dy: y * (1 - y) * dy, VECTORS, HALVES),
    "softmax": (lambda x: x.softmax(-1), [[shape] for shape in ROWS], HALVES),
    "softmax_backward": (softmax_grad, [[shape] * 2 for shape in ROWS], HALVES),
}
NAMES = list(gpudays.operators())
DIFFERENTIABLE = [name for name in NAMES if not name.endswith("_backward")]


def given(name, number=1, dtype=torch.float32, grad=False):
    return [normal(*shape, dtype=dtype, grad=grad, seed=seed) for seed, shape in enumerate(OPERATORS[name][1][number])]


class Operators(unittest.TestCase):
    def close(self, made, expected, name):
        digits = {torch.float32: 3e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}[made.dtype]
        torch.testing.assert_close(made, expected.to(made.dtype), rtol=digits, atol=digits, msg=lambda text: f"{name}: {text}")

    def test_there_are_operators_and_each_is_tested(self):
        self.assertTrue(NAMES)
        self.assertEqual([name for name in NAMES if name not in OPERATORS], [])

    def test_results(self):
        for name in NAMES:
            reference, shapes, types = OPERATORS[name]
            for number, dtype in ((number, dtype) for number in range(len(shapes)) for dtype in types):
                inputs = given(name, number, dtype)
                made, expected = getattr(gpudays, name)(*inputs), reference(*(one.double() for one in inputs))
                self.assertEqual((made.shape, made.dtype, made.device), (expected.shape, dtype, inputs[0].device), name)
                self.close(made, expected, f"{name} {[tuple(one.shape) for one in inputs]} {dtype}")

    def test_memory_that_begins_between_two_vectors(self):
        for name in set(NAMES) & {"vector_add", "sigmoid", "softmax"}:
            inputs = [normal(1001)[1:] for _ in OPERATORS[name][1][0]]
            self.close(getattr(gpudays, name)(*inputs), OPERATORS[name][0](*inputs), name)

    def test_gradients(self):
        for name in DIFFERENTIABLE:
            found = []
            for function in (getattr(gpudays, name), OPERATORS[name][0]):
                inputs = given(name, grad=True)
                result = function(*inputs)
                (result * normal(*result.shape)).sum().backward()
                found.append([one.grad for one in inputs])
            for mine, theirs in zip(*found):
                self.close(mine, theirs, name)

    def test_a_gradient_whose_strides_are_0(self):
        for name in DIFFERENTIABLE:
            inputs = given(name, grad=True)
            getattr(gpudays, name)(*inputs).sum().backward()
            self.assertTrue(all(one.grad is not None for one in inputs), name)

    def test_opcheck(self):
        for name in NAMES:
            for number in (1, 2):
                said = opcheck(getattr(torch.ops.gpudays, name).default, given(name, number, grad=name in DIFFERENTIABLE), raise_exception=False)
                self.assertEqual(set(said.values()), {"SUCCESS"}, f"{name}: {said}")
                self.assertEqual(len(said), 4)

    def test_in_a_whole_graph(self):
        for name in DIFFERENTIABLE:
            function = getattr(gpudays, name)
            body = lambda *tensors, function=function: function(*(2 * one for one in tensors)).sum() * 3
            compiled = torch.compile(body, fullgraph=True, dynamic=True, backend="inductor" if name == "vector_add" else "aot_eager")
            for number in (1, 2):  # of another size the second time
                whole, eager = given(name, number, grad=True), given(name, number, grad=True)
                compiled(*whole).backward()
                body(*eager).backward()
                for mine, theirs in zip(whole, eager):
                    self.close(mine.grad, theirs.grad, name)

    @unittest.skipIf(DEVICE == "cpu", "streams are a GPU's")
    def test_on_the_current_stream(self):
        """A launch on another stream would be done before its inputs are written."""
        for name in NAMES:
            inputs, expected = given(name), OPERATORS[name][0](*given(name))
            torch.cuda.synchronize()
            with torch.cuda.stream(torch.cuda.Stream()):
                late = [torch.zeros_like(one) for one in inputs]
                torch.cuda._sleep(20_000_000)
                for one, values in zip(late, inputs):
                    one.copy_(values)
                made = getattr(gpudays, name)(*late)
                for one in late:
                    one.zero_()  # behind it, too
                self.close(made, expected, name)

    @unittest.skipIf(DEVICE == "cpu", "graphs are a GPU's")
    def test_in_a_graph_of_cuda(self):
        name = NAMES[0]
        inputs, graph = given(name), torch.cuda.CUDAGraph()
        getattr(gpudays, name)(*inputs)
        with torch.cuda.graph(graph):
            made = getattr(gpudays, name)(*inputs)
        for one in inputs:
            one.mul_(2)
        graph.replay()
        self.close(made, OPERATORS[name][0](*inputs), name)

    def test_from_several_threads(self):
        results, name = [], NAMES[0]
        inputs = given(name)

        def work():
            for _ in range(20):
                results.append(torch.equal(getattr(gpudays, name)(*inputs), first))
        first = getattr(gpudays, name)(*inputs)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 80)


class Refusals(unittest.TestCase):
    """One sentence each, that names the operator and the tensor."""

    def refused(self, says, name, *tensors, error=(RuntimeError, TypeError)):
        if name not in NAMES:
            self.skipTest(f"the package was built without {name}")
        with self.assertRaises(error) as raised:
            getattr(gpudays, name)(*tensors)
        text = str(raised.exception)
        self.assertIn(says, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith(f"gpudays.{name}"), text)

    def test_the_type(self):
        self.refused("a is int64, and it takes float32", "vector_add", normal(4).long(), normal(4).long())
        self.refused("x is another type, and it takes float32, float16, bfloat16", "softmax", normal(4).to(torch.complex64))
        self.refused("dy is float16, and y is float32", "softmax_backward", normal(4), normal(4).half())
        self.refused("b's dtype is torch.float16, and a's is torch.float32", "vector_add", normal(4).to("meta"), normal(4).half().to("meta"))

    def test_what_is_no_tensor(self):
        self.refused("b is a list, and it takes a tensor", "vector_add", normal(1), [1.0])
        self.refused("takes 2 tensors, a, b, and was given 1", "vector_add", normal(1))
        self.refused("a is sparse, and it takes a dense tensor", "vector_add", normal(4).to_sparse(), normal(4))

    def test_the_device(self):
        self.refused("b's device is meta, and a's is", "vector_add", normal(4), normal(4).to("meta"))
        if DEVICE == "cuda":
            self.refused("a is on the CPU, and gpudays was built for the GPU: a.cuda()", "vector_add", torch.ones(4), torch.ones(4))

    def test_the_shape(self):
        self.refused("b is 5, and n is 4 in a", "vector_add", normal(4), normal(5))
        self.refused("b is 4, and n is 2 x 2 in a", "vector_add", normal(2, 2), normal(4))
        self.refused("b is 3 x 4, and k is 4 in a", "matmul", normal(3, 4), normal(3, 4))
        self.refused("a is 3, and it takes a[m, k]", "matmul", normal(3), normal(3, 4))
        self.refused("x is a single number, and it takes x[rows*, cols]", "softmax", normal())
        self.refused("k is 0: there is nothing to compute the result from", "matmul", normal(3, 0), normal(0, 4))

    def test_the_strides(self):
        self.refused("a is not contiguous: its strides are 2. a.contiguous() copies it", "vector_add", normal(8)[::2], normal(4))
        self.refused("x is not contiguous: its strides are 1, 3", "softmax", normal(4, 3).t())

    def test_a_gradient_where_there_is_no_backward(self):
        for name in ("sigmoid_backward", "softmax_backward"):
            if name in NAMES:
                self.refused("has no backward: call it under torch.no_grad()", name, *given(name, grad=True))
                with torch.no_grad():
                    getattr(gpudays, name)(*given(name, grad=True))


if __name__ == "__main__":
    unittest.main()
