#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIMT_TIMELINE: what a program put into its streams, with line and order, against what is known of a small program."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """#include <cuda_runtime.h>
#include <vector>
__global__ void fill(int* x) { x[threadIdx.x] = 1; }
int main() {
  int *x, *y, *pinned;
  std::vector<int> pageable(32);
  cudaMalloc(&x, 128); cudaMalloc(&y, 128); cudaMallocHost(&pinned, 128);
  cudaStream_t a, b;
  cudaStreamCreate(&a); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t made;
  cudaEventCreate(&made);
  cudaMemset(x, 0, 128);
  fill<<<1, 32, 0, a>>>(x);
  cudaEventRecord(made, a);
  cudaMemcpyAsync(y, pinned, 128, cudaMemcpyHostToDevice, b);
  cudaStreamWaitEvent(b, made, 0);
  cudaMemcpyAsync(pinned, x, 128, cudaMemcpyDeviceToHost, b);
  cudaDeviceSynchronize();
  cudaMemcpy(pageable.data(), x, 128, cudaMemcpyDeviceToHost);
  cudaMemcpyAsync(y, x, 128, cudaMemcpyDeviceToDevice, a);
  cudaLaunchHostFunc(a, [](void*) {}, nullptr);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  fill<<<1, 32, 0, a>>>(x);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, a);
}
"""


def line_of(text):
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="timeline test ")
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "prog.cu").write_text(SOURCE)
        # A cached object of an earlier run would name that run's folder.
        subprocess.run([str(ROOT / "days"), "cc", "-g", "prog.cu", "-o", "prog"], cwd=cls.folder, check=True,
                       env={**os.environ, "CCACHE_DISABLE": "1"})

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_program(self, **environment):
        return subprocess.run([str(self.folder / "prog")], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env={**os.environ, **environment}, check=False)

    def operations(self, order="normal"):
        file = self.folder / "timeline.json"
        file.unlink(missing_ok=True)
        done = self.run_program(SIMT_TIMELINE=str(file), SIMT_ORDER=order)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(file.read_text())
        self.assertIs(found["complete"], True)
        return found["operations"]

    def before(self, one, other):
        after = dict(map(tuple, other["after"]))
        return (one["number"] <= other["floor"] or (one["slot"] == other["slot"] and one["number"] < other["number"])
                or one["number"] <= after.get(one["slot"], 0))

    def test_what_was_issued(self):
        self.assertEqual([(o["kind"], o["name"], o["stream"], o["bytes"], o["pageable"]) for o in self.operations()][:-1], [
            ("fill", "cudaMemset", "default stream", 128, False),
            ("kernel", "fill", "stream 1", 0, False),
            ("H2D", "cudaMemcpyAsync", "stream 2", 128, False),
            ("D2H", "cudaMemcpyAsync", "stream 2", 128, False),
            ("D2H", "cudaMemcpy", "default stream", 128, True),
            ("D2D", "cudaMemcpyAsync", "stream 1", 128, False),
            ("host function", "cudaLaunchHostFunc", "stream 1", 0, False)])
        last = self.operations()[-1]
        self.assertEqual((last["kind"], last["name"], last["stream"][:5]), ("kernel", "fill", "graph"))

    def test_lines_are_the_calls_not_the_kernels(self):
        places = [o["place"] for o in self.operations()]
        for place, text in zip(places, ("cudaMemset(x", "fill<<<", "cudaMemcpyAsync(y, pinned", "cudaMemcpyAsync(pinned",
                                        "cudaMemcpy(pageable", "cudaMemcpyDeviceToDevice", "cudaLaunchHostFunc")):
            self.assertEqual(place, f"prog.cu:{line_of(text)}")
        self.assertEqual(places[-1], f"prog.cu:{line_of('cudaGraphLaunch')}")

    def test_order(self):
        memset, kernel, copy_in, copy_out, copy, copy_on, _, graph = self.operations()
        self.assertTrue(self.before(memset, kernel), "a blocking stream waits for the default one")
        self.assertFalse(self.before(memset, copy_in) or self.before(copy_in, memset), "a non-blocking one does not")
        self.assertFalse(self.before(kernel, copy_in) or self.before(copy_in, kernel))
        self.assertTrue(self.before(kernel, copy_out), "by the event")
        self.assertTrue(self.before(copy_in, copy_out), "in one stream")
        for earlier in (memset, kernel, copy_in, copy_out):
            self.assertTrue(self.before(earlier, copy), "the host has waited for all")
        self.assertTrue(self.before(copy, copy_on) and self.before(copy_on, graph))

    def test_the_order_of_running_is_one_that_is_allowed(self):
        seen = set()
        # On a busy machine the backend may take a slow host for a waiting one, and run what is queued: hence several tries.
        for order in ("normal", "reversed", *(f"shuffle:{seed}" for seed in range(1, 9))):
            operations = self.operations(order)
            self.assertEqual(sorted(o["ran"] for o in operations), list(range(1, len(operations) + 1)))
            for one in operations:
                for other in operations:
                    if one is not other and self.before(one, other):
                        self.assertLess(one["ran"], other["ran"], order)
            seen.add(tuple(o["ran"] for o in operations))
        self.assertGreater(len(seen), 1, "different orders were run")

    def test_a_place_that_cannot_be_written(self):
        done = self.run_program(SIMT_TIMELINE=str(self.folder / "none" / "timeline.json"))
        self.assertIn("cannot be written", done.stderr)

    def test_nothing_is_written_unasked(self):
        (self.folder / "timeline.json").unlink(missing_ok=True)
        self.assertEqual(self.run_program(SIMT_TIMELINE="").stderr, "")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.json")), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
