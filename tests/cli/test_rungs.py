# SPDX-License-Identifier: MIT
"""Rungs as exercises, without compilers: what starts from what, the learner's files, gates, messages. tests/exercises.py runs
the real thing."""
import contextlib
import io
import json
import os
import re
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import support  # noqa: F401 (days_cli is found by it)
from days_cli import catalog, compiler_messages, console, counting, cpp_ladders, exercises, gpu, judge, ladders, main, metrics, paths, rung_gates, rungs, stages, traces
from days_cli.errors import DaysError


def rung(words):
    day, name = words.split()
    return rungs.of_day(catalog.resolve(day, "check"))[name]


def every():
    return [found for day in catalog.here() if day.kind.links for found in rungs.of_day(day).values()]


def lexed(text):
    """(code without strings and comments, blocks of lines that are comments alone) of a text of C++; ValueError where a token has no
    end."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', "", re.sub(r"(?<=\d)'(?=\d)", "", text), flags=re.DOTALL)
    if re.search(r"[\"']|/\*", code):
        raise ValueError(re.search(r".*[\"'].*|.*/\*.*", code)[0])
    blocks = re.findall(r"(?:^ *//[^\n]*\n)+", text, re.MULTILINE)
    return code, ["\n".join(line.strip() for line in block.splitlines()) for block in blocks]


def closed(code):
    """Does each bracket close the one that was opened last?"""
    opened = []
    for sign in re.findall(r"[][(){}]", code):
        if sign in "([{":
            opened.append(sign)
        elif not opened or opened.pop() + sign not in ("()", "[]", "{}"):
            return False
    return not opened


class Ladders(unittest.TestCase):
    def test_the_header_says_from_where(self):
        for words, before in (("13 padded", "shared"), ("13 several", "padded"), ("13 down", "several"), ("1 float4", "one_each"),
                              ("4 gauss_registers", "gauss_shared"), ("4 gauss_constant", "gauss_separable"),
                              ("16 ilp8", "ilp4"), ("14 vectors", "online")):
            self.assertEqual(rung(words).before.name, before, words)

    def test_one_ladder_does_not_start_from_another(self):
        for first in ("13 naive", "13 element", "14 grad_naive", "62 scatter", "62 repeated_max", "1 wrong_way"):
            self.assertIsNone(rung(first).before, first)
        for found in every():
            if found.before:
                self.assertEqual(found.ladder, found.before.ladder)
        self.assertEqual({found.ladder for found in every() if found.day.number == 62},
                         {"histogram", "compaction", "compaction_stable", "radix_sort", "top_k"})

    def test_each_variant_of_each_ladder_is_a_rung(self):
        for day in catalog.here():
            if day.kind.links:
                text = (day.folder / "ladder.cpp").read_text()
                self.assertEqual(len(rungs.of_day(day)), text.count(".variant("), day.label)
                self.assertEqual(set(rungs.of_day(day)), {rung.name for rung in ladders.variants(day)})

    def refused(self, word, command="check"):
        with self.assertRaises(DaysError) as raised:
            exercises.resolve("13", command, word)
        return raised.exception

    def test_a_rung_that_does_not_exist(self):
        error = self.refused("paded")
        self.assertIn("Nearest: padded", error.message)
        self.assertIn("transpose: naive, shared, padded, swizzled", error.message)
        self.assertIn("copy: element", error.message)
        self.assertEqual((error.hint, error.code), ("./days check 13 padded", 2))
        self.assertEqual(self.refused("xyzzy").hint, "./days check 13 shared")

    def test_the_first_rung(self):
        error = self.refused("naive", "hint")
        self.assertIn("naive is the first rung of transpose", error.message)
        self.assertEqual(error.hint, "./days hint 13 shared")
        self.assertIn("the only rung of copy", self.refused("element").message)

    def test_what_a_rung_may_be_called(self):
        for word in ("padded", "PADDED", "pad"):
            self.assertEqual(exercises.resolve("13", "check", word).name, "padded")
        self.assertEqual(exercises.resolve("43", "check", "causal_mma").name, "mma")
        self.assertEqual(exercises.resolve("13", "check", "exercise").number, 13)

    def test_a_program_day_has_no_rungs(self):
        with self.assertRaises(DaysError) as raised:
            exercises.resolve("60", "check", "pinned")
        self.assertIn("is a program day and has no rungs", raised.exception.message)


class Starts(unittest.TestCase):
    """The learner's file as it is made."""

    def test_each_has_one_launcher_and_that_is_its_own(self):
        for found in every():
            if not found.before:
                continue
            text = rungs.start_text(found)
            self.assertRegex(text, rf"\nvoid {found.launcher}\(const ", found.words)
            self.assertNotIn(f"void {found.before.launcher}(const", text, found.words)
            others = {other.launcher for other in rungs.of_day(found.day).values()} - {found.launcher}
            self.assertFalse([other for other in others if re.search(rf"\bvoid {other}\(", text)], found.words)
            self.assertEqual(text.count("INSTANTIATE_LAUNCHER("), found.file.read_text().count(f"INSTANTIATE_LAUNCHER({found.launcher},"))
            self.assertEqual(text.count("{"), text.count("}"), found.words)
            self.assertTrue(text.endswith("\n") and "\n\n\n" not in text, found.words)

    def test_each_is_whole_and_so_are_its_comments(self):
        for found in every():
            if not found.before:
                continue
            text, source = rungs.start_text(found), found.before.file.read_text()
            code, comments = lexed(text)
            self.assertTrue(closed(code), found.words)
            shipped = lexed(source)[1]
            renamed = {re.sub(rf"\b{found.before.launcher}\b", found.launcher, block) for block in shipped}
            self.assertLessEqual(set(comments[1:]), renamed, found.words)
            # What its header says of the rung before ends where the shipped header does, or the part of another rung begins.
            about = re.split(r"^// What \w+ does:\n", comments[0], flags=re.MULTILINE)
            about = about[1] if len(about) > 1 else re.search(rf"^// {found.before.name}: .*", comments[0], re.DOTALL | re.MULTILINE)[0]
            self.assertIn(about, source, found.words)
            after = source[source.index(about) + len(about):].lstrip("/\n ")
            others = [other.name for other in rungs.of_day(found.day).values() if other.file == found.before.file]
            ends = source.startswith(shipped[0]) and shipped[0].endswith(about) or re.match(rf"(?:{'|'.join(others)}): ", after)
            self.assertTrue(ends, f"{found.words}: {after[:60]}")

    def test_a_word_with_a_colon_at_a_lines_beginning_is_no_rung(self):
        lines = ["// naive: one.", "// Changed since", "// naive: less.", "// wide: two."]
        self.assertEqual(cpp_ladders._parts(lines, {"naive"}), {"": lines})
        self.assertEqual(cpp_ladders._parts(lines, {"naive", "wide"}), {"": [], "naive": lines[:3], "wide": lines[3:]})

    def test_it_is_the_rung_before_under_another_name(self):
        text = rungs.start_text(rung("13 padded"))
        self.assertIn("__shared__ T tile[kTile][kTile];", text)
        self.assertIn('require_problem(p, "padded");', text)
        self.assertIn("Yours: padded of day 13. It begins as shared", text)
        self.assertNotIn("transpose_shared", text)

    def test_of_a_file_of_several_rungs_the_answer_is_left_out(self):
        text = rungs.start_text(rung("13 down"))
        self.assertIn("struct Across", text)
        self.assertNotIn("Down", text)
        self.assertNotIn("down: the same kernel", text)
        text = rungs.start_text(rung("4 gauss_constant"))
        self.assertNotIn("__constant__", text)
        self.assertNotIn("ConstantWeights", text)

    def test_types_are_those_of_the_rung(self):
        text = rungs.start_text(rung("43 mma"))
        self.assertIn("requires Half<T>\nvoid attention_mma(", text)
        self.assertIn("INSTANTIATE_LAUNCHER(attention_mma, Attention, days::half, days::bf16);", text)

    def test_a_rung_of_one_type_after_one_of_many_and_the_other_way_round(self):
        self.assertIn("Grayscale<uint8_t>& p, cudaStream_t stream) {\n  using T = uint8_t;\n", rungs.start_text(rung("3 words")))
        self.assertEqual(rung("3 words").before.name, "bytes")
        for found in every():
            if found.before:
                self.assertLessEqual(set(found.types), set(found.before.types))
                self.assertTrue(found.types, found.words)
        self.assertNotEqual(rung("3 vectors").before.name, "words")

    def test_a_version_is_of_the_code_and_not_of_its_comments(self):
        found = rung("13 padded")
        version = rungs.version(found)
        self.assertEqual(version, rungs.version(found))
        text = rungs.start_text(found)
        for changed, same in ((text.replace("right", "true"), True), (text.replace("kTile = 32", "kTile = 16"), False)):
            self.assertNotEqual(changed, text)
            with mock.patch.object(rungs, "start_text", return_value=changed):
                self.assertEqual(rungs.version(found) == version, same)


NOTHING = {metric.key: 0 for metric in (*metrics.COUNTERS, *metrics.BESIDES, metrics.BLOCKS, metrics.UNDER_WAY, metrics.IDLE, metrics.THREADS)} | {"bulk_bytes": 0}


class Gates(unittest.TestCase):
    def falls(self, start, goal, metrics=metrics.COUNTERS):
        return {ask.metric.key: ask.limit for ask in rung_gates._falls({**NOTHING, **start}, {**NOTHING, **goal}, metrics)}

    def test_what_falls_is_asked_near_the_goal(self):
        shared = {"sectors": 262144, "bank_conflicts": 1015808, "shared_requests": 65536}
        self.assertEqual(self.falls(shared, {**shared, "bank_conflicts": 0}), {"bank_conflicts": 110000})
        self.assertEqual(self.falls({"launches": 12}, {"launches": 6}), {"launches": 6})
        self.assertEqual(self.falls({"reads_per_input": 3}, {"reads_per_input": 2}), {"reads_per_input": 2.1})

    def test_what_hardly_falls_or_rises_is_not(self):
        self.assertEqual(self.falls({"sectors": 1000}, {"sectors": 900}), {})
        self.assertEqual(self.falls({"sectors": 1000}, {"sectors": 9000}), {})
        self.assertEqual(self.falls({"bank_conflicts": 10, "shared_requests": 1000}, {"bank_conflicts": 0}), {})

    def test_what_follows_from_another_is_not(self):
        reads = {"reads_per_input": 3, "sectors": 3000, "requests": 300}
        self.assertEqual(set(self.falls(reads, {"reads_per_input": 2, "sectors": 2000, "requests": 200})), {"reads_per_input"})
        self.assertEqual(set(self.falls(reads, {"reads_per_input": 2, "sectors": 2000, "requests": 50})),
                         {"reads_per_input", "requests"})
        self.assertEqual(set(self.falls({"sectors": 900, "wasted_sectors": 0.8}, {"sectors": 200})), {"sectors"})

    def test_more_blocks_are_asked_where_there_are_twice_as_many(self):
        more = lambda start, goal: [(ask.limit, ask.holds(ask.limit), ask.holds(ask.limit - 1), ask.bound())
                                    for ask in rung_gates._more_blocks({"blocks": start}, {"blocks": goal})]
        self.assertEqual(more(8, 128), [(64, True, False, "at least 64")])
        self.assertEqual(more(8, 16), [(16, True, False, "at least 16")])
        self.assertEqual(more(8, 15), [])
        self.assertEqual(more(0, 128), [])

    def test_the_copy_engine_is_not_asked_to_move_less(self):
        self.assertEqual(self.falls({"sectors": 1000, "requests": 100}, {"bulk_bytes": 32000}), {"requests": 10})

    def test_the_rung_passes_what_the_one_before_misses(self):
        for start in (1, 2, 7, 19, 20, 33, 1000, 987654):
            for goal in (0, 1, 5, 16, 800):
                if start >= 1.25 * goal and start > goal:
                    for metric in (*metrics.COUNTERS, *metrics.BESIDES):
                        limit = rung_gates._limit(metric, start, goal)
                        self.assertTrue(goal <= limit < start, (metric.key, start, goal, limit))

    def test_large_figures_have_no_decimals(self):
        reads = metrics.COUNTERS[0]
        self.assertEqual([reads.shown(value) for value in (1.128, 19.5, 160.25)], ["1.13", "19.50", "160"])
        self.assertEqual(rung_gates._limit(reads, 256, 160.125), 170)

    def test_a_large_gain_leaves_no_more_than_three_times_the_goal(self):
        self.assertEqual(rung_gates._limit(metrics.COUNTERS[0], 225, 2), 6)
        self.assertEqual(rung_gates._limit(metrics.COUNTERS[1], 1000000, 1000), 3000)

    def test_no_barrier_is_none(self):
        self.assertEqual(self.falls({"barriers": 128}, {}, metrics.BESIDES), {"barriers": 0})

    def test_more_under_way_is_asked_where_nothing_falls(self):
        early = {**NOTHING, "barriers": 64, "under_way": 8192}
        self.assertEqual([(ask.metric.key, ask.limit, not ask.metric.most) for ask in rung_gates._rises(NOTHING, early)], [("under_way", 7372, True)])
        self.assertEqual(rung_gates._rises(early, {**early, "under_way": 8200}), [])
        self.assertEqual(rung_gates._rises(early, NOTHING), [])
        gates = self.find({("shared", ""): {"barriers": 128}, ("padded", ""): early})
        self.assertEqual([ask.metric.key for ask in gates.asks], ["under_way"])

    def find(self, counts, words="13 padded", code=None):
        """The Gates by these counts: {(rung, size): values}."""
        def counted(found, size, flags, prefix=""):
            self.assertEqual(flags, rung(words).flags)
            values = counts.get((prefix + found.name, size))
            if values is None:
                raise DaysError("does not take it")
            return {**NOTHING, **values}, [1024, 1024], {}

        def compiled(file):
            if code is None:
                raise DaysError("asm needs nvcc")
            return code[file.name]
        with mock.patch.object(rung_gates, "_counts", counted), mock.patch.object(rung_gates, "_code", compiled):
            return rung_gates.find(rung(words))

    def test_what_takes_no_fp32_is_counted_in_fp16(self):
        for name in ("mma", "async", "skipping", "wide", "turing"):
            self.assertEqual(rung(f"43 {name}").flags, ["--type", "fp16"])
        for words in ("43 tiled", "13 padded", "14 online", "3 words", "62 block"):
            self.assertEqual(rung(words).flags, [])
        gates = self.find({("mma", ""): {"sectors": 200}, ("async", ""): {"sectors": 100}}, "43 async")
        self.assertEqual((gates.kind, gates.flags()), ("counters", ["--type", "fp16"]))

    def test_odd_shapes_are_tried_next(self):
        same = {"sectors": 100}
        gates = self.find({("down", ""): same, ("aligned", ""): same, ("down", "1021x1021"): {"sectors": 200},
                           ("aligned", "1021x1021"): same}, "13 aligned")
        self.assertEqual((gates.kind, gates.size, gates.flags()), ("counters", "1021x1021", ["--size", "1021x1021"]))

    def test_then_the_same_rungs_in_another_ladder(self):
        same = {"sectors": 100}
        counts = {("async", ""): same, ("skipping", ""): same, ("causal_async", ""): same, ("causal_skipping", ""): {"sectors": 60}}
        gates = self.find(counts, "43 skipping")
        self.assertEqual((gates.kind, gates.prefix, gates.asks[0].metric.key, gates.size), ("counters", "causal_", "sectors", ""))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            rung_gates.say(rung("43 skipping"), gates)
        self.assertIn("causal_async has 100, causal_skipping has 60.", " ".join(out.getvalue().split()))
        with mock.patch.object(counting, "measure", return_value=({**NOTHING, "sectors": 100}, [], [])) as measure:
            stage = rung_gates.counters(judge.Kernel(None, "skipping", "my/day43_skipping.cu"), rung("43 skipping"), gates)
        self.assertEqual((stage.verdict, measure.call_args[0][0].variant), ("FAIL", "causal_skipping"))
        self.assertIn("Why: ./days explain 43 causal_skipping --mine --type fp16", stage.lines)

    def test_then_barriers_then_code_then_speed(self):
        same = {("padded", ""): {"barriers": 4}, ("swizzled", ""): {"barriers": 4}}
        fewer = {("padded", ""): {"barriers": 4}, ("swizzled", ""): {"barriers": 2}}
        code = {"03_padded.cu": {"load_bits": 32, "shared_bytes": 4224, "registers": 30},
                "04_swizzled.cu": {"load_bits": 32, "shared_bytes": 4096, "registers": 20}}
        self.assertEqual(self.find(fewer, "13 swizzled", code).asks[0].metric.key, "barriers")
        gates = self.find(same, "13 swizzled", code)
        self.assertEqual((gates.kind, [(ask.metric.key, ask.limit) for ask in gates.asks]), ("code", [("shared_bytes", 4096)]))
        gates = self.find(same, "13 swizzled")
        self.assertEqual(gates.kind, "speed")
        self.assertIn("asm needs nvcc", gates.why)
        one_file = {("several", ""): {}, ("down", ""): {}}
        self.assertEqual(self.find(one_file, "13 down", code).kind, "speed")

    def test_wider_loads_and_fewer_registers(self):
        one = {"load_bits": 32, "shared_bytes": 0, "registers": 40}
        self.assertEqual([ask.holds(128) for ask in rung_gates._code_falls(one, {**one, "load_bits": 128})], [True])
        self.assertEqual([ask.holds(64) for ask in rung_gates._code_falls(one, {**one, "load_bits": 128})], [False])
        self.assertEqual(rung_gates._code_falls(one, {**one, "registers": 39}), [])
        static = {**one, "shared_bytes": 16640}
        self.assertEqual([ask.limit for ask in rung_gates._code_falls(static, one)], [0])
        self.assertEqual(rung_gates._code_falls(static, {**one, "dynamic_shared": True}), [])  # what a launch adds is unknown
        self.assertEqual(rung_gates._code_falls({**static, "dynamic_shared": True}, one), [])
        self.assertEqual([ask.limit for ask in rung_gates._code_falls(one, {**one, "registers": 20})], [30])

    def test_a_damaged_file_of_counts_is_counted_again(self):
        with TemporaryDirectory() as folder:
            program = Path(folder) / "day13_transpose"
            program.write_text("")
            kernel = mock.Mock(program=mock.Mock(return_value=program))
            measured = ({**NOTHING, "sectors": 7}, [], [8, 8])
            for text in ("{", "[]", '{"%s": 3}'):
                with mock.patch.object(paths, "RUN_BUILD", Path(folder)), mock.patch.object(judge, "Kernel", return_value=kernel), \
                        mock.patch.object(counting, "measure", return_value=measured) as measure:
                    stamp = program.stat()
                    key = f"day13_transpose {stamp.st_mtime_ns} {stamp.st_size} padded steady"
                    (Path(folder) / "rung-counts.json").write_text(text % key if "%" in text else text)
                    self.assertEqual(rung_gates._counts(rung("13 padded"), "")[0]["sectors"], 7)
                    self.assertEqual(rung_gates._counts(rung("13 padded"), "")[1], [8, 8])
                    self.assertEqual(measure.call_count, 1)


def line(operation="shared load", **metrics):
    return traces.Line("my/day13_padded.cu", 38, "tile[threadIdx.x][threadIdx.y + i]", operation, metrics)


class Told(unittest.TestCase):
    """What the learner reads."""

    def setUp(self):
        self.folder = TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patch = mock.patch.object(paths, "MY", Path(self.folder.name) / "my")
        patch.start()
        self.addCleanup(patch.stop)
        patch = mock.patch.object(gpu, "detect", lambda: mock.Mock(gpu=None))
        patch.start()
        self.addCleanup(patch.stop)
        self.rung = rung("13 padded")
        self.padded = rung_gates.Gates("counters", rung_gates._falls(
            {**NOTHING, "bank_conflicts": 1015808, "shared_requests": 65536}, NOTHING, metrics.COUNTERS),
            notes={"bank_conflicts": "`tile[x][y]` takes 32 wavefronts a request."})

    def run_days(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main.main(arguments)
        for text in (out.getvalue(), err.getvalue()):
            for one in text.replace(str(paths.MY), "my").splitlines():
                self.assertLessEqual(len(one), console.WIDTH, one)
        return code, out.getvalue(), err.getvalue()

    def check(self, values=None, verdicts=("ok", "ok"), gates=None, words=("13", "padded")):
        """./days check, with these values in place of the builds' and runs'."""
        launch = traces.Launch("padded_kernel", "my/day13_padded.cu", (1, 1, 1), (32, 8, 1), {}, [line(**{
            "simt_shared_requests_op_ld": 32, traces.WAVEFRONTS.format("ld"): 1024, traces.CONFLICTS.format("ld"): 992})])
        first, second = (stages.Stage(name, verdict, "told") for name, verdict in zip(stages.STAGES, verdicts))
        with mock.patch.object(rung_gates, "find", return_value=gates or self.padded), \
                mock.patch.object(judge, "correct", return_value=({}, first)), \
                mock.patch.object(judge, "race_free", return_value=second), \
                mock.patch.object(counting, "measure", return_value=({**NOTHING, **(values or {})}, [launch], [])):
            return self.run_days("check", *words)

    def test_the_start_fails_with_what_is_asked_and_the_line(self):
        code, out, _ = self.check({"bank_conflicts": 1015808})
        self.assertEqual(code, 1)
        told = " ".join(out.split())
        self.assertIn("is new: shared's kernel under padded's name, yours to edit.", told)
        self.assertIn("transpose, from shared to padded", told)
        self.assertIn("Asked: bank conflicts at most 110,000; shared has 1,015,808, padded has none. In shared `tile[x][y]` takes "
                      "32 wavefronts a request.", told)
        self.assertIn("3 counters FAIL bank conflicts 1,015,808, asked at most 110,000", told)
        self.assertIn("my/day13_padded.cu:38 read tile[threadIdx.x][threadIdx.y + i] takes 32 wavefronts a request, of which 31 are "
                      "bank conflicts.", told)
        self.assertIn("Why: ./days explain 13 padded --mine", out)
        self.assertIn("Next: ./days hint 13 padded", out)
        self.assertIn("3 counters: bank conflicts 1,015,808", exercises.progress(self.rung)["last"])

    def test_what_the_rung_before_had_is_not_to_be_lost(self):
        gates = rung_gates.Gates("code", [rung_gates.Ask(metrics.CODE[1], 4224, 4096, 4096)],
                                 kept=rung_gates._kept(NOTHING, {**NOTHING, "shared_requests": 65536}))
        with mock.patch.object(rung_gates, "code_of", return_value={"shared_bytes": 4096}):
            code, out, _ = self.check({"bank_conflicts": 1015808}, gates=gates, words=("13", "swizzled"))
            told = " ".join(out.split())
            self.assertEqual(code, 1)
            self.assertIn("FAIL bank conflicts 1,015,808: padded and swizzled have fewer", told)
            self.assertIn("takes 32 wavefronts a request", told)
            self.assertEqual(self.check({"bank_conflicts": 6000}, gates=gates, words=("13", "swizzled"))[0], 0)

    def test_blocks_that_do_nothing_are_not_to_be_brought_in(self):
        gates = rung_gates.Gates("counters", [rung_gates.Ask(metrics.COUNTERS[3], 400, 100, 130)],
                                 kept=rung_gates._kept({**NOTHING, "requests": 400, "blocks": 400}, {**NOTHING, "requests": 100, "blocks": 100}))
        code, out, _ = self.check({"requests": 100, "idle_blocks": 300}, gates=gates)
        self.assertEqual(code, 1)
        self.assertIn("FAIL blocks that touch no global memory 300: shared and padded have fewer", " ".join(out.split()))
        self.assertEqual(self.check({"requests": 100, "idle_blocks": 8}, gates=gates)[0], 0)

    def test_nor_are_blocks_that_load_for_nothing(self):
        counts = {**NOTHING, "threads": 65536}
        gates = rung_gates.Gates("counters", [rung_gates.Ask(metrics.COUNTERS[3], 400, 100, 130)],
                                 kept=rung_gates._kept({**counts, "requests": 400}, {**counts, "requests": 100}))
        code, out, _ = self.check({"requests": 100, "threads": 262144}, gates=gates)
        self.assertEqual(code, 1)
        self.assertIn("FAIL threads launched 262,144: shared and padded have fewer", " ".join(out.split()))
        self.assertEqual(self.check({"requests": 100, "threads": 131072}, gates=gates)[0], 0)

    def test_what_a_rung_teaches_stands_in_the_learners_file(self):
        self.assertEqual(rung_gates.taught(rung("14 warp")), ["__shfl_xor_sync"])
        self.assertEqual(rung_gates.taught(rung("10 fused")), [])  # tanhf, which the one before calls, too
        mine = paths.MY / "mine.cu"
        mine.parent.mkdir(parents=True, exist_ok=True)
        kernel = mock.Mock(file=str(mine))
        for text, lacks in (("x = warp_merge(mine);  // __shfl_xor_sync(", True), ("v += __shfl_xor_sync(~0u, v, 1);", False)):
            mine.write_text(text)
            self.assertEqual(bool(rung_gates.lacking(kernel, rung("14 warp"))), lacks, text)
        self.assertEqual(rung_gates.counters(judge.Kernel(rung("14 warp").day, "warp", str(mine)), rung("14 warp"), rung_gates.Gates("speed", why="why")).verdict, "skip")
        mine.write_text("warp_merge(mine)")
        stage = rung_gates.counters(judge.Kernel(rung("14 warp").day, "warp", str(mine)), rung("14 warp"), rung_gates.Gates("speed", why="why"))
        self.assertEqual(stage.verdict, "FAIL")
        self.assertIn("no __shfl_xor_sync in", stage.about)

    def test_solved(self):
        code, out, _ = self.check({"bank_conflicts": 64})
        self.assertEqual(code, 0)
        self.assertIn("Solved. Next: ./days check 13 swizzled, or see ours: ./days solution 13 padded", out)
        self.assertIn("solved", exercises.progress(self.rung))
        self.assertNotIn("solved", exercises.progress(self.rung.day))
        self.assertEqual(exercises.rungs_solved(self.rung.day)[0], 1)
        said = " ".join(self.run_days("next")[1].split())
        self.assertIn("Next: rung swizzled of day 13 transpose, of whose 8 rungs 1 is solved ./days check 13 swizzled", said)

    def test_what_only_a_gpu_can_judge_is_not_solved(self):
        code, out, _ = self.check(gates=rung_gates.Gates("speed", why="no counter tells them apart"), words=("13", "down"))
        told = " ".join(out.split())
        self.assertEqual(code, 0)
        self.assertIn("Asked: faster than several. No counter tells them apart.", told)
        self.assertIn("the gate of down is its speed, which needs a GPU; results and races were checked here", told)
        self.assertNotIn("Solved", out)
        self.assertNotIn("solved", exercises.progress(rung("13 down")))

    def test_counters_are_not_all_where_the_header_says_that_a_gpu_judges(self):
        self.assertEqual(rung_gates._on_gpu(rung("14 vectors")), "four loads under way in each thread")
        self.assertEqual(rung_gates._on_gpu(rung("13 padded")), "")
        gates = rung_gates.Gates("counters", [rung_gates.Ask(metrics.COUNTERS[3], 400, 100, 130)], on_gpu="four loads at a time")
        code, out, _ = self.check({"requests": 400}, gates=gates)
        self.assertEqual(code, 1)
        self.assertIn("Asked: four loads at a time. No counter shows that: it is judged by the speed, on a GPU.", " ".join(out.split()))
        code, out, _ = self.check({"requests": 100}, gates=gates)
        told = " ".join(out.split())
        self.assertEqual(code, 0)
        self.assertIn("3 counters ok requests to global memory 100", told)
        self.assertIn("What padded brings is judged on a GPU, and counts as solved there.", told)
        self.assertNotIn("solved", exercises.progress(self.rung))

    def test_speed_beside_both_rungs(self):
        down, gates = rung("13 down"), rung_gates.Gates("speed", why="no counter")
        rows = lambda several, down: ({"rows": [{"name": "several", "seconds": several}, {"name": "down", "seconds": down}]}, None)
        here = mock.Mock()
        here.name = "H100"
        for mine, shipped, verdict in ((rows(2.0, 1.0), rows(2.0, 1.0), "ok"), (rows(2.0, 1.9), rows(2.0, 1.0), "FAIL"),
                                       (rows(2.0, 1.0), rows(2.0, 1.99), "skip"), (rows(None, None), rows(None, None), "skip")):
            with mock.patch.object(judge, "timed", side_effect=[shipped, mine]):
                self.assertEqual(rung_gates.speed(judge.Kernel(down.day, "down"), down, gates, here).verdict, verdict)
        failed = stages.Stage("speed", "FAIL", "wrong on this GPU")
        with mock.patch.object(judge, "timed", side_effect=[rows(2, 1), (None, failed)]):
            self.assertIs(rung_gates.speed(judge.Kernel(down.day, "down"), down, gates, here), failed)

    def test_files_are_kept_apart_and_nothing_is_lost(self):
        exercises.start(self.rung.day)
        exercises.start(self.rung)
        mine = exercises.my_file(self.rung)
        self.assertEqual(mine.name, "day13_padded.cu")
        mine.write_text("first")
        self.assertFalse(exercises.start(self.rung))
        self.assertEqual(mine.read_text(), "first")
        code, out, _ = self.run_days("reset", "13", "padded")
        self.assertEqual((code, "is shared's kernel again" in out), (0, True))
        self.assertEqual(mine.read_text(), rungs.start_text(self.rung))
        self.assertEqual([path.read_text() for path in (paths.MY / "old").iterdir()], ["first"])
        self.assertEqual(exercises.my_file(self.rung.day).read_text(), exercises.skeleton(self.rung.day).read_text())

    def test_a_file_of_another_version_is_told_and_stays(self):
        exercises.start(self.rung)
        exercises.my_file(self.rung).write_text("mine")
        self.assertNotIn("another version", self.check()[2])
        exercises.remember(self.rung, begun="000000000000")
        _, _, err = self.check()
        self.assertIn("was begun from another version of day 13", " ".join(err.split()))
        self.assertIn("./days reset 13 padded", " ".join(err.split()))
        self.assertEqual(exercises.my_file(self.rung).read_text(), "mine")

    def test_progress_of_an_older_days_is_understood(self):
        paths.MY.mkdir()
        (paths.MY / "progress.json").write_text('{"13": {"solved": "2026-01-01"}}')
        self.check({"bank_conflicts": 0})
        found = json.loads((paths.MY / "progress.json").read_text())
        self.assertEqual(found["13"], {"solved": "2026-01-01"})
        self.assertEqual(found["13 padded"]["last"], "solved")

    def test_unfinished_progress_is_kept(self):
        paths.MY.mkdir()
        (paths.MY / "progress.json").write_text('{"13 padded": {"hi')
        code, _, err = self.check({"bank_conflicts": 0})
        self.assertEqual((code, "it is kept as" in " ".join(err.split())), (0, True))
        self.assertEqual([path.read_text() for path in paths.MY.glob("*.bad")], ['{"13 padded": {"hi'])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        paths.MY.mkdir()
        paths.MY.chmod(0o555)
        self.addCleanup(paths.MY.chmod, 0o755)
        code, _, err = self.check()
        self.assertEqual((code, "Permission denied" in err), (3, True))

    def test_a_folder_in_its_place(self):
        exercises.my_file(self.rung).mkdir(parents=True)
        code, _, err = self.check()
        self.assertEqual((code, "day13_padded.cu is a folder" in " ".join(err.split())), (3, True))

    def test_hints_are_what_the_note_says(self):
        first, second, third = (self.run_days("hint", "13", "padded")[1] for _ in range(3))
        self.assertIn("Hint 1 of 3", first)
        self.assertIn("./days explain 13 padded --mine", first)
        self.assertIn("one word longer", second)
        self.assertIn("__shared__ T tile[kTile][___];", third)
        self.assertNotIn("kTile + 1", first + second + third)
        self.assertEqual(exercises.progress(self.rung)["hints"], 3)
        self.assertNotIn("hints", exercises.progress(self.rung.day))

    def test_a_rung_of_which_the_note_says_nothing(self):
        for note, said in (("# Day\n\n### 3 · padded: more\n", "README.md:3."), ("# Day\n", "README.md is the day's note.")):
            with mock.patch.object(Path, "read_text", return_value=note):
                text = exercises.hints(self.rung)
            self.assertEqual(text, [])
            with mock.patch.object(exercises, "hints", return_value=[]), \
                    mock.patch.object(exercises, "section", return_value=(3 if "###" in note else 0, "")):
                code, out, _ = self.run_days("hint", "13", "padded")
            self.assertEqual((code, said in out.replace("\n", " ").strip()), (0, True), out)

    def test_a_days_own_hints_are_not_its_rungs(self):
        note = ("## Exercise\n<details><summary>Hint 1: q</summary>\nday\n</details>\n## Rungs\n### 3 · padded: more\n"
                "<details><summary>Hint 1: q</summary>\nrung\n</details>\n### 4 · swizzled: x\ntext\n")
        real = Path.read_text

        def read(path, *rest, **more):
            return note if path.name == "README.md" else real(path, *rest, **more)
        with mock.patch.object(Path, "read_text", read):
            self.assertEqual(exercises.hints(self.rung), ["rung"])
            self.assertEqual(exercises.hints(self.rung.day), ["day"])
            self.assertEqual(exercises.hints(rung("13 swizzled"))[1:], ["text"])

    def test_hints_are_whole_and_no_answer(self):
        """A question, the idea, code with holes; none leads over to what is left out."""
        for day in catalog.here():
            for found in rungs.of_day(day).values() if day.kind.has_rungs else ():
                for text in exercises.hints(found) if found.before else ():
                    self.assertFalse(text.rstrip().endswith(":"), f"{found.words}: {text}")
                    if text.startswith("```"):
                        self.assertIn("___", text, found.words)
        holes = exercises._with_holes("int a = 1;\nif (x < n) a = 2;\nfor (int i = 0; i < n; ++i) y[i] = f(i);\nreturn a;\nrun(a, b);\n", "int a = 1;\n")
        self.assertEqual(holes, "int a = 1;\nif (___) a = ___;\nfor (int i = 0; ___; ___) y[i] = ___;\nreturn ___;\nrun(___);\n")

    def test_each_hint_prints_at_80_columns(self):
        from days_cli.commands import hint
        for found in every():
            if found.before:
                for text in exercises.hints(found):
                    out = io.StringIO()
                    with contextlib.redirect_stdout(out):
                        hint._print(text)
                    for one in out.getvalue().splitlines():
                        if not one.startswith("    "):  # code is not broken
                            self.assertLessEqual(len(one), 80, f"{found.words}: {one}")

    def test_lists_commands_and_tables_in_a_hint(self):
        from days_cli.commands import hint
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for text in exercises._unfolded(self.rung, "Two things:\n\n- one,\n  longer\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nRun\n\n    ./days run \\\n        43\n")[1:]:
                hint._print(text)
        self.assertEqual(out.getvalue(), "Two things:\n- one, longer\n- two\nRun\n    ./days run \\\n        43\n")

    def test_solution(self):
        code, _, err = self.run_days("solution", "13", "padded")
        self.assertEqual((code, "./days solution 13 padded --yes" in err), (2, True))
        code, out, _ = self.run_days_wide("solution", "13", "padded", "--yes")
        self.assertEqual(code, 0)
        self.assertIn("+  __shared__ T tile[kTile][kTile + 1];", out)
        self.assertTrue(exercises.progress(self.rung)["solution"])
        exercises.start(self.rung)
        counted = lambda kernel: ({**NOTHING, "barriers": 8, "bank_conflicts": 992 if kernel.file else 0}, [], [])
        with mock.patch.object(counting, "measure", counted):
            out = self.run_days_wide("solution", "13", "padded", "--yes")[1]
        self.assertRegex(out, r" +yours +padded\n")
        self.assertRegex(out, r"bank conflicts +992 +0\n")
        self.assertNotIn("atomic", out.partition("---")[0])

    def run_days_wide(self, *arguments):
        """A difference has the lines of the files."""
        with mock.patch.object(self, "assertLessEqual"):
            return self.run_days(*arguments)

    def test_watch_and_explain(self):
        code, _, err = self.run_days("explain", "13", "padded", "--mine")
        self.assertEqual((code, "./days check 13 padded" in err), (2, True))
        with mock.patch("time.sleep", side_effect=KeyboardInterrupt), mock.patch("days_cli.commands.check.check") as check:
            self.assertEqual(self.run_days("watch", "13", "padded")[0], 130)
        self.assertEqual(check.call_args[0][0].name, "padded")
        self.assertTrue(exercises.my_file(self.rung).is_file())

    def test_a_rung_and_a_shipped_rung_are_not_asked_for_at_once(self):
        code, _, err = self.run_days("check", "13", "padded", "--rung", "padded")
        self.assertEqual((code, "your own file" in " ".join(err.split())), (2, True))


class Linking(unittest.TestCase):
    def test_a_file_without_its_launcher(self):
        said = ("/usr/bin/ld: ladder.cpp.o: in function `x':\nladder.cpp:54: undefined reference to `void "
                "day13::transpose_padded<__half>(day13::Transpose<__half> const&, CUstream_st*)'\nladder.cpp:54: undefined reference "
                "to `void day13::transpose_padded<unsigned char>(day13::Transpose<unsigned char> const&, CUstream_st*)'\n")
        told = compiler_messages.no_launcher(said, "transpose_padded", "my/day13_padded.cu")
        self.assertIn("transpose_padded(const Transpose<half>&, cudaStream_t)\n", told)
        self.assertIn("transpose_padded(const Transpose<uint8_t>&, cudaStream_t)\n", told)
        self.assertIn("INSTANTIATE_LAUNCHER(transpose_padded, ...);", told)
        self.assertNotIn("/usr/bin/ld", told)
        self.assertTrue(all(len(one) <= 80 for one in told.splitlines()))
        plain = ("ladder.cpp:9: undefined reference to `day62::histogram_block(day62::Histogram<unsigned char> const&, "
                 "CUstream_st*)'\n")
        self.assertIn("histogram_block(const Histogram<uint8_t>&, cudaStream_t)",
                      compiler_messages.no_launcher(plain, "histogram_block", "my/x.cu"))
        other = "ladder.cpp:54: undefined reference to `helper(int)'\n"
        self.assertEqual(compiler_messages.no_launcher(other, "transpose_padded", "my/x.cu"), other)


class Running(unittest.TestCase):
    """A learner's kernel of `vectorised`, which begins as `aligned`: only this one takes shapes of odd extents."""

    def correct(self, change=lambda text: text):
        found = rung("13 vectorised")
        with TemporaryDirectory() as folder, mock.patch.object(paths, "MY", Path(folder)):
            exercises.start(found)
            mine = exercises.my_file(found)
            text = change(mine.read_text())
            mine.write_text(text)
            kernel = judge.Kernel(found.day, "vectorised", exercises.shown(mine), found)
            return judge._cases(kernel, kernel.program())

    def test_what_one_rung_refuses_may_be_computed_or_refused(self):
        told = self.correct()
        self.assertEqual((told.doubt, told.failed), ([], []))
        self.assertEqual({case["result"] for case in told.cases if case["shape"] == {"rows": 31, "cols": 33}}, {"ok"})

        require = 'require_problem(p, "vectorised");\n'
        refusing = self.correct(lambda text: text.replace(require, require + "  days::require(p.cols != 33, \"no 33\");\n", 1))
        self.assertEqual((refusing.doubt, refusing.failed), ([], []))
        self.assertEqual({case["result"] for case in refusing.cases if case["shape"]["cols"] == 33}, {"refused"})

    def test_what_both_take_may_not_be_refused_and_nothing_may_be_wrong(self):
        require = 'require_problem(p, "vectorised");\n'
        told = self.correct(lambda text: text.replace(require, require +
                            "  days::require(p.cols != 64, \"no 64\");\n  if (p.cols == 33) return;\n", 1))
        self.assertEqual({case["shape"]["cols"] for case in told.failed}, {64, 33})
        self.assertIn("refused a shape that it has to take", str([case["notes"] for case in told.failed if case["shape"]["cols"] == 64]))

    def test_a_row_that_is_not_there(self):
        kernel = judge.Kernel(rung("13 padded").day, "padded")
        with mock.patch.object(judge.Kernel, "flags", ["--begun", "sharde"]), self.assertRaises(DaysError) as raised:
            judge._cases(kernel, kernel.program())
        self.assertIn("transpose has no such variant", raised.exception.message)


if __name__ == "__main__":
    unittest.main()
