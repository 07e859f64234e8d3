#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where a warp's time goes: ncu's output read, recorded, found stale, shown. The figures are what ncu 2025.3.1 printed of day 14's `online` on an H200; the
ncu that runs here is a script."""
import json
import re
import sys
import types
import unittest

import support
from days_cli import catalog, gpu, paths, profiles, results, stale, toolchain
from days_cli.commands import profile
from support import result_file, result_row, result_table

sys.path.insert(0, str(support.ROOT / "tools"))
import check_notes  # noqa: E402
import results_tables  # noqa: E402

H200 = gpu.Probe(gpu.Gpu("NVIDIA H200", (9, 0), 150109880320), "580.159.04", (13, 0))
STALLED = {"barrier": "1.00", "branch_resolving": "0.36", "dispatch_stall": "0.32", "drain": "0.00", "gmma": "0", "imc_miss": "0.02", "lg_throttle": "0.00",
           "long_scoreboard": "10.34", "math_pipe_throttle": "0.22", "membar": "0", "mio_throttle": "0.22", "misc": "0.00", "no_instruction": "0.12",
           "not_selected": "2.85", "selected": "1.00", "short_scoreboard": "1.17", "sleeping": "0", "tex_throttle": "0", "wait": "1.72"}
ONLINE = {profiles.READ: ("byte", "271,256,064"), profiles.WRITTEN: ("byte", "248,370,176"), profiles.DURATION: ("ns", "166,880"),
          profiles.L1: ("%", "3.78"), "launch__kernel_name": ("", ""), "launch__registers_per_thread": ("register/thread", "28"), profiles.L2: ("%", "61.28"),
          profiles.WARPS: ("%", "93.55"), profiles.SLOTS: ("%", "77.95"),
          **{f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": ("inst", value) for reason, value in STALLED.items()}}
SENTENCE = "a warp waits 53% of its time for memory, 15% for its turn and 9% for a fixed delay; 78% of issue slots are used"


def csv(*launches):
    """What ncu --csv --page raw prints of [(kernel, {metric: (unit, value)})]."""
    def quoted(words):
        return ",".join(f'"{word}"' for word in words)
    names = list(launches[0][1])
    lines = ["==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.",
             quoted(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC", *names]),
             quoted([""] * 11 + [unit for unit, _ in launches[0][1].values()])]
    for number, (kernel, figures) in enumerate(launches):
        lines.append(quoted([number, "7", "day14_softmax", "127.0.0.1", f"void unnamed>::{kernel}<float>(const T1 *, T1 *, int)", "1", "13", "(256, 1, 1)",
                             "(16384, 1, 1)", "0", "9.0", *(value for _, value in figures.values())]))
    return "\n".join(lines) + "\n"


class Case(support.Case):
    """With a repository of one day, whose three rungs an H200 has measured."""

    def setUp(self):
        super().setUp()
        self.root = self.folder / "repository"
        folder = self.root / "day13_transpose"
        folder.mkdir(parents=True)
        (self.root / "docs").mkdir()
        for name, value in (("ROOT", self.root), ("BUILD", self.root / "build")):
            self.replace(paths, name, value)
        self.replace(results, "_COMMITTED", self.root / "docs" / "results")
        self.replace(results_tables, "ROOT", self.root)
        (folder / "README.md").write_text("---\ntitle: Transpose\nkind: ladder\n---\n\n### 1 · naive — x\n\nText.\n\n### 2 · padded — x\n\nMore.\n\n"
                                          "<!-- results:h200 -->\n<!-- /results:h200 -->\n")
        support.describe(folder, support.ladder("transpose", {name: f"transpose_{name}" for name in ("naive", "padded", "tiled")}))
        for number, name in enumerate(("naive", "padded", "tiled"), 1):
            self.rung(number, name)
        catalog.tracks.cache_clear()
        self.day = catalog.resolve("13", "profile")
        found = result_file([result_table([result_row(name, 600) for name in ("naive", "padded", "tiled")])])
        stale.stamp(found)
        results.write(results.committed("h200", self.day), found)
        self.addCleanup(stale.kernels.cache_clear)

    def rung(self, number, name, value=1):
        (self.root / "day13_transpose" / f"{number:02}_{name}.cu").write_text(
            f"__global__ void {name}_kernel(float* x) {{ x[0] = {value}; }}\nvoid transpose_{name}(float* x) {{ {name}_kernel<<<1, 32>>>(x); }}\n")
        stale.kernels.cache_clear()

    def machine(self, printed, said="", code=0):
        """A GPU, and an ncu that writes this CSV, prints `said`, and keeps its arguments in self.asked."""
        (self.folder / "printed.csv").write_text(printed)
        self.tool("ncu", f'''case "$1" in --version) echo "Version 2025.3.1.0 (build 36398880) (public-release)"; exit;; esac
echo "$*" >> "{self.folder}/asked"
while [ $# -gt 0 ]; do case "$1" in --log-file) log=$2;; --variant) variant=$2;; esac; shift; done
cp "{self.folder}/printed.csv" "$log"
echo "launched transpose $variant fp32 16384x16384"
cat <<'END'
{said}
END
exit {code}
''')
        self.replace(gpu, "detect", lambda: H200)
        self.replace(toolchain, "choose_backend", lambda wanted, again: ("cuda", ""))
        self.replace(toolchain, "nvcc", lambda: None)
        self.replace(profile, "_program", lambda day: "/bin/true")
        self.replace(paths, "commit", lambda: "0123456")

    def asked(self):
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def recorded(self):
        return json.loads(profiles.path("h200", self.day).read_text())


class Taken(Case):
    def test_one_rung(self):
        self.machine(csv(("padded_kernel", ONLINE)))
        code, out, err = self.days("profile", "13", "padded")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^Day 13 transpose, padded, 16384 x 16384 fp32\nNVIDIA H200, driver 580.159.04, ncu 2025.3.1.0;")
        self.assertRegex(out, r"for memory +53% +10.3\n")
        self.assertRegex(out, r"issue slots used +78%\n")
        self.assertRegex(out, r"DRAM +271 MB read, 248 MB written, 3114 GB/s\n")
        self.assertRegex(out, r"time +167 us\n")
        self.assertIn("\nLong scoreboard: an answer from L1, L2 or DRAM is not there yet.", out)
        self.assertIn("\nNot selected: it could go on, and another warp did.", out)
        self.assertNotIn("selected  ", out)  # the tick in which it starts an instruction is no stall
        asked, = self.asked()
        for words in ("--profile-from-start off", "--clock-control none", "--csv --page raw", "/bin/true --once --variant padded --type fp32 --size 16384x16384"):
            self.assertIn(words, asked)
        self.assertFalse(profiles.path("h200", self.day).exists())

    def test_another_shape(self):
        self.machine(csv(("padded_kernel", ONLINE)))
        self.assertEqual(self.days("profile", "13", "padded", "--size", "64x64", "--type", "fp16")[0], 0)
        self.assertIn("--type fp16 --size 64x64", self.asked()[0])

    def test_a_day(self):
        self.machine(csv(("padded_kernel", ONLINE)))
        code, out, _ = self.days("profile", "13")
        self.assertEqual((code, len(self.asked())), (0, 3))
        self.assertEqual(" ".join(out.split()), " ".join(f"{name} {SENTENCE}" for name in ("naive", "padded", "tiled")))

    def test_several_kernels_count_by_their_time(self):
        waits = f"smsp__average_warps_issue_stalled_{'{}'}_per_issue_active.ratio"
        nothing = {name: ("inst", "0") for name in ONLINE if profiles.STALL.fullmatch(name)}
        short = {**ONLINE, **nothing, profiles.DURATION: ("ns", "1,000"), profiles.SLOTS: ("%", "10"), waits.format("barrier"): ("inst", "3"),
                                         waits.format("selected"): ("inst", "1")}
        long = {**ONLINE, **nothing, profiles.DURATION: ("ns", "3,000"), profiles.SLOTS: ("%", "50"), waits.format("long_scoreboard"): ("inst", "9"),
                                        waits.format("selected"): ("inst", "1")}
        self.machine(csv(("first_kernel", short), ("second_kernel", long), ("second_kernel", long)))
        code, out, _ = self.days("profile", "13", "padded", "--record")
        self.assertEqual(code, 0)
        row, = self.recorded()["rows"]
        self.assertEqual([(kernel["kernel"], kernel["launches"]) for kernel in row["kernels"]], [("first_kernel", 1), ("second_kernel", 2)])
        shares = {reason: share for share, _, reason in profiles.stalls(row)}
        self.assertAlmostEqual(shares["barrier"], 0.75 * 1 / 7)
        self.assertAlmostEqual(shares["long_scoreboard"], 0.9 * 6 / 7)
        told = profiles.summary(row)
        self.assertAlmostEqual(told["slots"], (10 + 6 * 50) / 7)
        self.assertAlmostEqual(told["seconds"], 7e-6)
        self.assertEqual(told["read"], 3 * 271256064)
        self.assertRegex(out, r"time +7.00 us of 3 kernels\n")
        self.assertRegex(out, r" 86%  second_kernel, 2 times\n")

    def test_a_stall_of_a_later_ncu(self):
        row = {"kernels": [{"kernel": "k", "figures": {profiles.DURATION: 10, "smsp__average_warps_issue_stalled_new_unit_per_issue_active.ratio": 4.0,
                                                       "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": 1.0}}]}
        self.assertEqual(profiles.line(row), "a warp waits 80% of its time for new unit")


class Refused(Case):
    def fails(self, code, first, hint, *arguments):
        got, out, err = self.days(*(arguments or ("profile", "13", "padded")))
        text = " ".join(err.split())
        self.assertEqual(got, code, out + err)
        self.assertTrue(text.startswith("error: " + first), text)
        self.assertIn("Next: " + hint, text)

    def test_no_permission(self):
        self.machine("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n", code=1)
        self.fails(3, "the driver lets only root read this GPU's counters (ERR_NVGPUCTRPERM)", "https://developer.nvidia.com/ERR_NVGPUCTRPERM")
        self.fails(3, "the driver lets only root", "https", "profile", "13")
        self.fails(3, "the driver lets only root", "https", "profile", "--stale", "--record")
        self.assertFalse(profiles.path("h200", self.day).exists())

    def test_no_gpu(self):
        self.replace(gpu, "detect", lambda: gpu.Probe())
        self.fails(3, "profile reads counters of a GPU, and there is no NVIDIA GPU here", "./days explain 13")
        self.fails(3, "profile reads counters of a GPU", "./days profile --stale", "profile", "--stale", "--record", "--for", "5m")

    def test_no_ncu(self):
        self.machine(csv(("k", ONLINE)))
        self.replace(profiles, "find_ncu", lambda: None)
        self.fails(3, "profile needs ncu", "sudo apt-get install -y nsight-compute")

    def test_what_ncu_says(self):
        self.machine("==ERROR== Failed to profile kernel \"padded_kernel\" in process 7\n", code=1)
        code, _, err = self.days("profile", "13", "padded")
        self.assertEqual(code, 1)
        self.assertIn("padded was not profiled: Failed to profile kernel", " ".join(err.split()))
        self.machine("")
        self.assertIn("ncu saw no kernel", self.days("profile", "13", "padded")[2])

    def test_a_rung_that_does_not_run_here(self):
        self.machine("")
        self.tool("ncu", 'echo "left out transpose padded fp32 16384x16384: needs sm_100"\n')
        code, _, err = self.days("profile", "13", "padded")
        self.assertEqual((code, err), (1, "error: padded does not run here: needs sm_100\n"))

    def test_combinations(self):
        for line, first in (("profile", "profile which day?"), ("profile 13 paded", 'day 13 transpose has no variant "paded". Nearest: padded'),
                            ("profile 13 padded --for 5m", "--for is for --stale --record"), ("profile 13 --stale", "--stale goes through all days"),
                            ("profile --stale --record --for no", '--for "no" is no time'), ("profile 13 padded --record --size 5x5", "--size is for a look"),
                            ("profile 13 --recorded h200 --record", "--recorded shows what is there"),
                            ("profile 13 --recorded h200", 'no profile of day 13 transpose on "h200" is recorded')):
            self.fails(2, first, "", *line.split())


class Kept(Case):
    def test_what_waits_and_in_which_order(self):
        self.assertEqual([(variant, why) for _, variant, why in profiles.waiting("h200", [self.day])],
                         [("tiled", "never profiled"), ("padded", "never profiled"), ("naive", "never profiled")])
        self.machine(csv(("padded_kernel", ONLINE)))
        self.assertEqual(self.days("profile", "13", "padded", "--record")[0], 0)
        self.assertEqual([variant for _, variant, _ in profiles.waiting("h200", [self.day])], ["tiled", "naive"])
        self.rung(2, "padded", value=2)
        self.assertEqual([(variant, why) for _, variant, why in profiles.waiting("h200", [self.day])],
                         [("tiled", "never profiled"), ("padded", "changed"), ("naive", "never profiled")])
        code, out, _ = self.days("profile", "--stale")
        self.assertEqual(code, 0)
        self.assertIn("h200  13 transpose: never profiled: tiled, naive; changed: padded\n", out)
        self.assertIn("h200: 3 rungs of 1 day wait for a profile. On that GPU:\n  ./days profile --stale --record --for 5m\n", out)

    def test_the_days_that_ask_for_it_most(self):
        class Day:
            def __init__(self, number):
                self.number, self.target = number, f"day{number:02}_x"
        self.replace(profiles, "load", lambda gpu, day: {"rows": []})
        self.replace(profiles, "variants", lambda day: [(0, f"{day.number}a"), (0, f"{day.number}b"), (1, f"{day.number}c")])
        self.assertEqual([variant for _, variant, _ in profiles.waiting("h200", [Day(3), Day(14), Day(66)])],
                         ["14b", "14a", "66b", "66a", "3b", "3a", "14c", "66c", "3c"])

    def test_goes_on_where_it_stopped(self):
        self.machine(csv(("k", ONLINE)))
        times = iter([0.0, 1.0, 2.0, 70.0, 71.0])
        self.replace(profile, "time", types.SimpleNamespace(monotonic=lambda: next(times)))
        code, out, _ = self.days("profile", "--stale", "--record", "--for", "1m")
        self.assertEqual(code, 0)
        self.assertTrue(out.endswith("\n2 rungs profiled, 1 waits. Next: ./days profile --stale --record --for 1m\n"), out)
        self.assertEqual([row["variant"] for row in self.recorded()["rows"]], ["padded", "tiled"])  # in the ladder's order
        self.replace(profile, "time", types.SimpleNamespace(monotonic=lambda: 0.0))
        code, out, _ = self.days("profile", "--stale", "--record")
        self.assertTrue(out.endswith("\n1 rung profiled, nothing waits. Next: ./days report\n"), out)
        self.assertEqual(len(self.asked()), 3)
        row = self.recorded()["rows"][0]
        self.assertEqual({key: row[key] for key in ("ladder", "variant", "type", "size", "commit")},
                         {"ladder": "transpose", "variant": "naive", "type": "fp32", "size": "16384x16384", "commit": "0123456"})
        self.assertNotIn("smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", row["kernels"][0]["figures"])

    def test_one_that_fails_does_not_stop_the_others(self):
        self.machine(csv(("k", ONLINE)))
        take = profiles.take
        def failing(ncu, program, variant, *more):
            if variant == "tiled":
                raise error("tiled does not run here: needs sm_100", code=1)
            return take(ncu, program, variant, *more)
        self.replace(profiles, "take", failing)
        error = profiles.DaysError
        self.assertEqual(self.days("profile", "--stale", "--record")[0], 1)
        profiles.path("h200", self.day).unlink()
        error = profiles.NotHere
        code, out, _ = self.days("profile", "--stale", "--record")
        self.assertEqual(code, 0)
        self.assertIn("1 not possible\n2 rungs profiled, nothing waits. Next: ./days report\n", out)
        self.assertEqual([row["variant"] for row in self.recorded()["rows"]], ["naive", "padded"])

    def test_an_older_driver_is_said(self):
        self.machine(csv(("k", ONLINE)))
        self.assertEqual(self.days("profile", "13", "naive", "--record")[0], 0)
        self.replace(gpu, "detect", lambda: gpu.Probe(H200.gpu, "590.1", (13, 1)))
        self.assertEqual(self.days("profile", "13", "padded", "--record")[0], 0)
        found = self.recorded()
        self.assertEqual((found["driver_version"], [row.get("by", {}).get("driver_version") for row in found["rows"]]), ("590.1", ["580.159.04", None]))
        self.assertIn("driver 580.159.04", self.days("profile", "13", "naive", "--recorded", "h200")[1])

    def test_a_file_that_is_none(self):
        file = profiles.path("h200", self.day)
        file.parent.mkdir(parents=True)
        file.write_text('{"rows": [{"variant": "naive"}]}')
        code, _, err = self.days("profile", "--stale")
        self.assertEqual(code, 2)
        self.assertIn("is no file of profiles", " ".join(err.split()))


class Shown(Case):
    def setUp(self):
        super().setUp()
        self.machine(csv(("padded_kernel", ONLINE)))
        self.assertEqual(self.days("profile", "13", "padded", "--record")[0], 0)

    def note(self):
        return results_tables.profiled((self.root / "day13_transpose" / "README.md").read_text(), "h200", self.day)

    def test_under_a_rungs_heading(self):
        text = self.note()
        line = ("A warp waits 53% of its time [for memory](../docs/glossary.md#long-scoreboard), 15% [for its turn](../docs/glossary.md#not-selected) and 9% "
                "[for a fixed delay](../docs/glossary.md#wait); 78% of issue slots are used. <!-- profile -->")
        self.assertIn(f"### 1 · naive — x\n\nText.\n\n### 2 · padded — x\n\n{line}\n\nMore.\n", text)
        (self.root / "day13_transpose" / "README.md").write_text(text)
        self.assertEqual(self.note(), text)
        self.assertNotIn("53%", check_notes.prose(text))  # nobody wrote these words
        self.rung(2, "padded", value=2)
        self.assertIn("An earlier version of this kernel: a warp waits 53%", self.note())
        profiles.path("h200", self.day).unlink()
        self.assertIn("### 2 · padded — x\n\nMore.\n", self.note())

    def test_not_of_another_shape(self):
        found = self.recorded()
        found["rows"][0]["size"] = "64x64"
        profiles.path("h200", self.day).write_text(json.dumps(found))
        self.assertNotIn("<!-- profile -->", self.note())

    def test_of_another_gpu(self):
        text = results_tables.profiled((self.root / "day13_transpose" / "README.md").read_text(), "h100", self.day)
        self.assertIn("### 2 · padded — x\n\nOn the NVIDIA H200 a warp waits 53% of its time", text)

    def test_beside_the_recorded_times(self):
        code, out, _ = self.days("run", "13", "--recorded", "h200")
        self.assertEqual(code, 0)
        self.assertIn("\nWhere the time of warps goes, by ncu, 16384 x 16384 fp32 (./days profile 13):\n", out)
        self.assertIn(f"padded {SENTENCE}", " ".join(out.split()))
        self.assertNotIn("Where the time", self.days("run", "13", "--recorded", "h200", "--variant", "naive")[1])

    def test_recorded(self):
        code, out, _ = self.days("profile", "13", "--recorded", "h200")
        self.assertEqual(code, 0)
        self.assertIn("recorded, not taken now", out)
        self.rung(2, "padded", value=2)
        self.assertIn("†: its kernel has changed since.", self.days("profile", "13", "padded", "--recorded", "h200")[1])


class Glossary(unittest.TestCase):
    def test_every_stall_has_an_entry(self):
        heads = re.findall(r"^### (.+)$", (support.ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
        self.assertEqual([reason for reason in profiles.REASONS if reason.replace("_", " ") not in heads], [])


if __name__ == "__main__":
    unittest.main()
