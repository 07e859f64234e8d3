#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a traced build counts, against numbers known by hand: tests/cli/traced/kernels.cu."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "cli" / "traced" / "kernels.cu"

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
STORE_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
WAVES_LD, WAVES_ST = (f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st"))
CONFLICTS_LD, CONFLICTS_ST = (f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st"))


def memory(loads, load_sectors, stores, store_sectors, **more):
    return {LOADS: loads, LOAD_SECTORS: load_sectors, STORES: stores, STORE_SECTORS: store_sectors, **more}


def shared(load_waves, load_conflicts, store_waves, store_conflicts):
    return {WAVES_LD: load_waves, CONFLICTS_LD: load_conflicts, WAVES_ST: store_waves, CONFLICTS_ST: store_conflicts,
            "simt_barriers": 1}


def lockstep(lanes):
    """Requests of a warp where each lane makes so many in one loop."""
    return max(lanes)


# Four warps of 32 lanes: an access of 4 bytes a lane is 128 bytes, 4 sectors.
EXPECTED = {
    "coalesced": memory(4, 16, 4, 16, simt_least_sectors_op_ld=16, simt_requested_bytes_op_ld=512,
                        simt_distinct_bytes_op_ld=512, simt_branches=0),
    "strided": memory(4, 128, 4, 16, simt_least_sectors_op_ld=16),
    "offset_by_one": memory(4, 20, 4, 16, simt_least_sectors_op_ld=16),
    "eight_bytes": memory(4, 32, 4, 32),
    "sixteen_bytes": memory(4, 64, 4, 64),
    # Two instructions of 16 bytes a lane, 32 apart: half of every sector each.
    "struct_of_32_bytes": memory(8, 256, 8, 256),
    "bytes": memory(4, 4, 4, 4),
    "tail": memory(4, 13, 4, 13, simt_branches=4, simt_divergent_branches=1),
    "broadcast": memory(4, 4, 4, 16, simt_requested_bytes_op_ld=512, simt_distinct_bytes_op_ld=4),
    "read_only": memory(8, 32, 4, 16),
    "update": memory(4, 16, 4, 16),
    "backwards": memory(4, 16, 4, 16),
    "constants_and_locals": memory(0, 0, 4, 16),
    "device_variable": memory(4, 16, 4, 16),
    "long_loops": {LOADS: 2 * 20000, STORES: 2, STORE_SECTORS: 5},
    # All lanes of a warp add to one word; each has its own maximum.
    "atomics": memory(0, 0, 4, 16, simt_atomic_requests=8, simt_atomic_sectors=4 + 16),
    "early_return": memory(4, 16, 4, 16, simt_requested_bytes_op_ld=256, simt_least_sectors_op_ld=8,
                           simt_branches=4, simt_divergent_branches=4),
    "two_ways": memory(0, 0, 8 + 2, 32 + 8, simt_branches=8, simt_divergent_branches=4),
    "choice": memory(8, 32, 4, 16, simt_branches=0, simt_divergent_branches=0),  # a GPU selects
    "both_conditions": memory(4, 16, 4, 16, simt_branches=4, simt_divergent_branches=4),
    # 48 rows of row % 5 values: the warp makes as many requests as its longest row has values, in both rounds; starts[row]
    # and starts[row + 1], which does not change in the inner loop, are read once each.
    "csr_rows": {LOADS: 2 * (1 + 1 + 4), STORES: 2, STORE_SECTORS: 4 + 2},
    # 31, 15, 7, 3, 1: the longest way down takes 5 steps.
    "uneven_while": {STORES: 4 * (lockstep([0, 1, 2, 3, 4, 5]) + 1), LOADS: 0},
    "calls_twice": memory(8, 32, 4, 16),
    "returns_a_struct": memory(4, 16, 4, 64),
    "unrolled": memory(16, 64, 4, 16),
    "stride_1": shared(1, 0, 1, 0),
    "stride_2": shared(2, 1, 2, 1),
    "stride_32": shared(32, 31, 32, 31),
    "stride_33": shared(1, 0, 1, 0),
    "pairs": shared(2, 0, 2, 0),
    "pairs_stride_2": shared(4, 2, 4, 2),
    "quads": shared(4, 0, 4, 0),
    "quads_stride_2": shared(8, 4, 8, 4),
    # Two stores; one word for all; two words of one bank.
    "shared_broadcast": shared(1 + 2, 1, 2, 0),
    "to_each_block": {WAVES_ST: 4, CONFLICTS_ST: 0, WAVES_LD: 4, CONFLICTS_LD: 0},
    "dynamic": {WAVES_ST: 12, CONFLICTS_ST: 0, WAVES_LD: 3, "simt_barriers": 12},
}


def leaves_requests():
    """The kernel `leaves` for one warp of 32 lanes and n = 4, an instruction at a time."""
    n, inner, jumped = 4, set(), set()
    for lane in range(32):
        for i in range(n):
            for j in range(n):
                if j == lane:
                    continue
                if j == lane + 2:
                    break
                if i == 3 and lane == 7:
                    jumped.add(lane)
                    break
                inner.add((i, j))
            if lane == 9 or lane in jumped:
                break
    after = 1
    rounds = n  # lane 0 goes round while --n > 0
    switch = 1 + 2 + 1  # case 0; the loop of case 1; the default, which case 1 falls into
    return len(inner) + after + rounds + switch


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = cls.run_traced()
        cls.kernels = {kernel["name"]: kernel for kernel in cls.trace["kernels"]}

    @staticmethod
    def run_traced(**environment):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "days"), "explain", "--file", str(PROGRAM), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False,
                              env=dict(os.environ, CXX=os.environ.get("SIMT_TEST_CXX", "g++"), **environment))
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def test_totals(self):
        for name, expected in EXPECTED.items():
            with self.subTest(kernel=name):
                totals = self.kernels[name]["totals"]
                self.assertEqual({metric: totals[metric] for metric in expected}, expected)

    def test_every_way_out_of_a_loop(self):
        self.assertEqual(self.kernels["leaves"]["totals"][STORES], leaves_requests())

    def test_any_order_and_number_of_workers(self):
        totals = [kernel["totals"] for kernel in self.trace["kernels"]]
        for environment in ({"SIMT_ORDER": "shuffle:3"}, {"SIMT_ORDER": "reversed", "SIMT_THREADS": "1"},
                            {"SIMT_THREADS": "5"}):
            with self.subTest(**environment):
                again = self.run_traced(**environment)
                self.assertEqual([kernel["totals"] for kernel in again["kernels"]], totals)

    def test_schema(self):
        self.assertEqual([kernel["name"] for kernel in self.trace["kernels"]][:3], ["coalesced", "strided", "offset_by_one"])
        kernel = self.kernels["strided"]
        self.assertEqual((kernel["grid"], kernel["block"]), ([2, 1, 1], [64, 1, 1]))
        self.assertTrue(kernel["file"].endswith("tests/cli/traced/kernels.cu"), kernel["file"])
        lines = {(line["operation"], line["text"]): line for line in kernel["lines"]}
        self.assertEqual(set(lines), {("global load", "in[8 * index()]"), ("global store", "out[index()]")})
        load = lines["global load", "in[8 * index()]"]
        source = PROGRAM.read_text().splitlines()
        self.assertEqual(source[load["line"] - 1].strip(), "out[index()] = in[8 * index()];")
        self.assertEqual(load[LOAD_SECTORS], 128)
        self.assertEqual((load["like_typical"], load["typical"]), (4, load["first"][0]))  # all cost the same
        first = load["first"][0]
        self.assertEqual((first["block"], first["warp"], first["bytes"]), ([0, 0, 0], 0, 4))
        self.assertEqual(first["addresses"], [32 * lane for lane in range(32)])

    def test_what_an_argument_reads(self):
        read = next(line for line in self.kernels["flush"]["lines"] if line["operation"] == "shared load")
        self.assertEqual(read["text"], "part[threadIdx.x]")

    def test_what_a_block_loads(self):
        """Two blocks of 64 threads: each its own 8 sectors, or both the same one."""
        sectors = {name: self.kernels[name]["totals"]["simt_distinct_sectors_of_blocks_op_ld"]
                   for name in ("coalesced", "strided", "broadcast", "unrolled")}
        self.assertEqual(sectors, {"coalesced": 16, "strided": 128, "broadcast": 2, "unrolled": 64})

    def test_blocks_that_do_nothing(self):
        """They neither read nor write global memory."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "idle.cu"
            source.write_text("__global__ void k(int* p) { if (blockIdx.x < 3) p[blockIdx.x] = 1; }\n"
                              "int main() { int* p; cudaMalloc(&p, 4096); k<<<8, 32>>>(p); return cudaDeviceSynchronize(); }\n")
            done = subprocess.run([sys.executable, "-B", str(ROOT / "days"), "explain", "--file", str(source), "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
            self.assertEqual(json.loads(done.stdout)["kernels"][0]["totals"]["simt_busy_blocks"], 3, done.stderr)

    def test_loads_before_the_first_store(self):
        """Of each warp's first lane: two warps of "unrolled" load four before they store, those of "update" one."""
        totals = {name: self.kernels[name]["totals"] for name in ("unrolled", "update", "coalesced")}
        self.assertEqual({name: (one["simt_loads_first"], one["simt_storing_warps"]) for name, one in totals.items()},
                         {"unrolled": (16, 4), "update": (4, 4), "coalesced": (4, 4)})

    def test_typical_request(self):
        """Of 100 elements the last warp loads 4: what most warps do is drawn."""
        load = next(line for line in self.kernels["tail"]["lines"] if line["operation"] == "global load")
        self.assertEqual((load["like_typical"], load["typical"]["addresses"]), (3, [4 * lane for lane in range(32)]))

    def test_lines_add_up(self):
        for kernel in self.trace["kernels"]:
            for metric, total in kernel["totals"].items():
                if "distinct" in metric or metric in ("simt_bulk_bytes", "simt_product_bytes", "simt_under_way_bytes", "simt_busy_blocks", "simt_loads_first", "simt_storing_warps"):
                    continue
                self.assertEqual(sum(line.get(metric, 0) for line in kernel["lines"]), total, (kernel["name"], metric))

    def test_a_store_in_a_helper_has_the_helpers_name(self):
        """Not that of the variable to which the line that calls it assigns the result."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "sum.cu"
            (Path(folder) / "first.cuh").write_text("""__device__ inline float first(float mine, float* shared) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  return shared[0];
}
""")
            source.write_text("""#include <first.cuh>
__global__ void k(float* p) {
  __shared__ float values[32];
  const float result = first(p[threadIdx.x], values);
  p[threadIdx.x] = result;
}
int main() { float* p; cudaMalloc(&p, 4096); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
""")
            done = subprocess.run([sys.executable, "-B", str(ROOT / "days"), "explain", "--file", str(source), "--json", f"-I{folder}/."],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [(line["operation"], line["line"], line["text"]) for line in json.loads(done.stdout)["kernels"][0]["lines"]]
            self.assertIn(("shared store", 4, "shared[threadIdx.x] (first.cuh:2)"), lines)
            self.assertNotIn("result", [text for operation, _, text in lines if operation == "shared store"])

    def test_a_launch_an_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "twice.cu"
            (Path(folder) / "kernel.cuh").write_text("__global__ void k(int* p) { p[threadIdx.x] = 1; }\n")
            source.write_text("#include <kernel.cuh>\n"
                              "int main() { int* p; cudaMalloc(&p, 4096);\n"
                              "  for (int i = 1; i <= 3; ++i) k<<<i, 32>>>(p);\n  return cudaDeviceSynchronize(); }\n")
            done = subprocess.run([sys.executable, "-B", str(ROOT / "days"), "explain", "--file", str(source), "--json",
                                   "-std=c++14", f"-I{folder}/."], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({k["file"] for k in json.loads(done.stdout)["kernels"]}, {f"{folder}/kernel.cuh"})
            self.assertEqual([(k["name"], k["grid"], k["totals"][STORES]) for k in json.loads(done.stdout)["kernels"]],
                             [("k", [i, 1, 1], i) for i in (1, 2, 3)])


if __name__ == "__main__":
    unittest.main()
