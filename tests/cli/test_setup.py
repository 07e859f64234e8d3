#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Getting what `test` and `bench` lack: apt as root, Homebrew, pip, or the command to type."""
import contextlib
import io
import os
import shutil
import subprocess
import unittest

import support
from days_cli import cmake_tools, packages, paths, toolchain
from days_cli.errors import ENVIRONMENT, DaysError


class Setup(support.Case):
    def setUp(self):
        super().setUp()
        self.only_fakes("sh", "cat", "touch", "mkdir", "chmod")
        self.replace(paths, "VENV", self.folder / "venv")
        self.log = self.folder / "log"
        self.log.write_text("")
        self.replace(cmake_tools, "find_package", lambda thing: "1.12")

    def root(self, yes):
        self.replace(packages, "is_root", lambda: yes)

    def cmake(self, version):
        self.tool("cmake", f"echo cmake version {version}.1")

    def apt(self, candidate, works=True, gives=""):
        self.tool("apt-cache", f"echo '  Candidate: {candidate}-1'")
        self.tool("apt-get", f'echo "apt-get $*" >> "{self.log}"\n' +
                  (f'case "$1" in install) {gives or ":"} ;; esac' if works else
                   "echo \"E: Failed to fetch http://deb: Temporary failure resolving 'deb'\"; exit 100"))

    def pip(self, works=True, venv=True):
        """A Python whose venv and pip are fakes."""
        made = self.folder / "venv" / "bin"
        python = self.tool("python3", f"""echo "python3 $*" >> "{self.log}"
case "$*" in
*"-m venv"*) {f'mkdir -p "{made}"; cat "$0" > "{made}/python3"; chmod +x "{made}/python3"' if venv else
              'echo ensurepip is not available; exit 1'} ;;
*"pip --version"*) echo pip 24 ;;
*"pip install"*) {f'''for tool in cmake ninja; do echo "#!/bin/sh" > "{made}/$tool";
                     echo "echo version 3.30.1" >> "{made}/$tool"; chmod +x "{made}/$tool"; done''' if works else
                  'echo "ERROR: Could not find a version: Failed to establish a new connection"; exit 1'} ;;
esac
""")
        self.replace(cmake_tools.sys, "executable", str(python))

    def ensure(self, *things):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            cmake_tools.ensure(list(things))
        self.check_form(err.getvalue())
        return " ".join(err.getvalue().split())

    def fails(self, *things):
        with self.assertRaises(DaysError) as caught:
            self.ensure(*things)
        self.assertEqual(caught.exception.code, ENVIRONMENT)
        return caught.exception.message, caught.exception.hint

    def test_nothing_missing(self):
        self.cmake("3.25")
        self.tool("ninja", "echo 1.11.1")
        self.assertEqual(self.ensure("cmake", "ninja", "gtest", "benchmark"), "")

    def test_apt_as_root(self):
        self.root(True)
        tools = f"""for tool in cmake ninja; do echo "#!/bin/sh" > "{self.bin}/$tool";
                    echo "echo 3.25.1" >> "{self.bin}/$tool"; chmod +x "{self.bin}/$tool"; done"""
        self.apt("3.25.1", gives=tools)
        said = self.ensure("cmake", "ninja")
        self.assertEqual(said, "Installing what is missing: apt-get install -y cmake ninja-build")
        self.assertIn("apt-get update", self.log.read_text())
        self.assertIn("apt-get install -y cmake ninja-build", self.log.read_text())

    def test_ccache_comes_with_what_is_missing(self):
        self.root(True)
        self.cmake("3.25")
        self.apt("3.25.1", gives=f"""echo '#!/bin/sh' > "{self.bin}/ninja"; echo 'echo 1.11.1' >> "{self.bin}/ninja";
                                     chmod +x "{self.bin}/ninja" """)
        self.assertEqual(self.ensure("cmake", "ninja", "ccache"),
                         "Installing what is missing: apt-get install -y ninja-build ccache")
        self.assertEqual(self.ensure("cmake", "ninja", "ccache"), "")  # by itself it is nothing to ask for

    def test_apt_without_network(self):
        self.root(True)
        self.apt("3.25.1", works=False)
        self.assertEqual(self.fails("cmake"), ("apt-get failed: no network", "apt-get install -y cmake"))

    def test_apt_that_is_too_old(self):
        self.root(True)
        self.cmake("3.22")
        self.tool("ninja", "echo 1.10.1")
        self.apt("3.22.1")
        self.pip()
        self.assertEqual(self.ensure("cmake", "ninja"), "Installing CMake with pip in build/venv (this one is 3.22)")
        self.assertNotIn("apt-get install", self.log.read_text())
        self.assertEqual(cmake_tools.find("cmake"), (str(self.folder / "venv" / "bin" / "cmake"), (3, 30)))
        self.assertIn("cmake>=3.24,<4", self.log.read_text())

    def test_no_root_uses_pip(self):
        self.root(False)
        self.apt("3.25.1")
        self.pip()
        self.assertEqual(self.ensure("cmake", "ninja"), "Installing CMake and Ninja with pip in build/venv")
        self.assertNotIn("apt-get install", self.log.read_text())

    def test_pip_without_network(self):
        self.root(False)
        self.pip(works=False)
        self.assertEqual(self.fails("cmake"), ("pip cannot install cmake: no network",
                                               "python3 -m pip install --user 'cmake>=3.24,<4'"))

    def test_no_venv(self):
        self.root(False)
        self.apt("3.22.1")
        self.pip(venv=False)
        self.assertEqual(self.fails("cmake"), ("this Python cannot make environments",
                                               "sudo apt-get install -y python3-venv"))

    def test_gtest_without_root_is_downloaded(self):
        self.root(False)
        self.apt("3.25.1")
        self.replace(cmake_tools, "find_package", lambda thing: "")
        self.assertEqual(self.ensure("gtest"), "GoogleTest is not installed: CMake downloads it. Or: "
                                               "sudo apt-get install -y libgtest-dev")

    def test_homebrew(self):
        self.root(False)
        self.tool("brew", f"""echo "brew $*" >> "{self.log}"
for tool in cmake ninja; do echo "#!/bin/sh" > "{self.bin}/$tool"
echo "echo 4.0.1" >> "{self.bin}/$tool"; chmod +x "{self.bin}/$tool"; done""")
        self.assertEqual(self.ensure("cmake", "ninja"), "Installing what is missing: brew install cmake ninja")
        self.assertIn("brew install cmake ninja", self.log.read_text())

    def test_other_managers_are_only_told(self):
        self.root(True)
        for manager, line in (("dnf", "dnf install -y gcc-c++"), ("pacman", "pacman -S gcc"),
                              ("zypper", "zypper install -y gcc-c++")):
            self.tool(manager, "exit 1")
            self.assertEqual(packages.command(["compiler"]), line)
            self.assertFalse(packages.may_install())
            (self.bin / manager).unlink()


class CMake(support.Case):
    def test_error_in_one_line(self):
        lines = ["-- x", "CMake Error at cmake/Dependencies.cmake:21 (message):", "  GTest is not installed and cannot be",
                 "  downloaded: apt-get install libgtest-dev", "Call Stack (most recent call first):", "", "more"]
        self.assertEqual(cmake_tools._cmake_error(lines[:4] + [""] + lines[4:]),
                         "GTest is not installed and cannot be downloaded: apt-get install libgtest-dev")
        self.assertEqual(cmake_tools._cmake_error(["CMake Error: no generator", "", "x"]), "no generator")

    def test_ccache_before_the_compilers(self):
        self.replace(paths, "VENV", self.folder / "venv")
        for folder, hashdir in (("absent", None), ("ccache", "1")):
            self.replace(cmake_tools, "_CCACHE", (str(self.folder / folder),))
            (self.folder / "ccache").mkdir(exist_ok=True)
            self.replace(os, "environ", {"PATH": "/bin"})
            environment = cmake_tools.environment()
            self.assertEqual(environment["PATH"], "/bin" if hashdir is None else f"{self.folder / folder}{os.pathsep}/bin")
            self.assertEqual(environment.get("CCACHE_NOHASHDIR"), hashdir)
        os.environ["CCACHE_NOHASHDIR"] = ""
        self.assertEqual(cmake_tools.environment()["CCACHE_NOHASHDIR"], "")

    def test_ccache_without_a_home(self):
        (self.folder / "file").write_text("")
        self.replace(paths, "BUILD", self.folder / "build")
        os.environ.pop("CCACHE_DIR", None)
        for home, own in ((self.folder / "file" / "home", False), (self.folder / "home", True), (None, False)):
            support.forget()
            told = f'echo "{home}/.cache/ccache"' if home else 'echo "ccache: error: no HOME" >&2; exit 1'
            ccache = self.tool("ccache", f'case "$*" in *cache_dir*) {told} ;; esac')
            expected = {} if own else {"CCACHE_DIR": str(self.folder / "build" / "ccache")}
            self.assertEqual(toolchain.ccache_place(str(ccache)), expected)
        support.forget()
        self.environment(CCACHE_DIR="/x")
        self.assertEqual(toolchain.ccache_place(str(ccache)), {})

    @unittest.skipUnless(shutil.which("ccache") and shutil.which("g++"), "no ccache here")
    def test_compiles_without_a_home(self):
        """By the real ccache, as CMake and ./days start it."""
        for name in [name for name in os.environ if name.startswith(("CCACHE_", "XDG_"))]:
            del os.environ[name]
        compiler = next(word for word in ("g++", "c++") if shutil.which(word))
        (self.folder / "g++").symlink_to(shutil.which("ccache"))
        (self.folder / "x.cpp").write_text("int x;\n")
        self.environment(HOME=str(self.folder / "x.cpp"), PATH=f"{self.folder}{os.pathsep}{os.environ['PATH']}")
        self.replace(paths, "BUILD", self.folder / "build")
        command = [str(self.folder / "g++"), "-c", "x.cpp", "-o", "x.o"]
        self.assertNotEqual(subprocess.run(command, cwd=self.folder, check=False, stderr=subprocess.DEVNULL).returncode, 0)
        self.environment(CXX=compiler)
        self.assertEqual(toolchain.host_compiler().path, str(self.folder / "g++"))
        subprocess.run(command, cwd=self.folder, check=True)
        self.replace(cmake_tools, "_CCACHE", (str(self.folder),))
        del os.environ["CCACHE_DIR"]
        subprocess.run(command, cwd=self.folder, check=True, env=cmake_tools.environment())

    def test_folders_that_cmake_does_not_take(self):
        for name in ('a"b', "a\\b", "a;b", "a[b]", "${x}"):
            self.replace(paths, "ROOT", self.folder / name)
            with self.assertRaises(DaysError) as caught:
                cmake_tools.ensure(["cmake"])
            self.assertEqual(caught.exception.code, ENVIRONMENT)
            self.assertIn("in a folder's name", caught.exception.message)
        for name in ("a b", "a'b", "a$x", "a@b@c", "a#b,c+d&(e)"):
            self.replace(paths, "ROOT", self.folder / name)
            cmake_tools.check_folder()

    def test_presets(self):
        self.assertEqual(cmake_tools.preset_for(None, "cuda"), "cuda")
        self.assertEqual(cmake_tools.preset_for(None, "simt"), "cpu")
        self.assertEqual(cmake_tools.preset_for("cpu-checked", ""), "cpu-checked")

    def test_package_versions(self):
        folder = self.folder / "lib" / "x86_64-linux-gnu" / "cmake" / "GTest"
        folder.mkdir(parents=True)
        (folder / "GTestConfigVersion.cmake").write_text('set(PACKAGE_VERSION "1.99.7")\n')
        self.environment(CMAKE_PREFIX_PATH=str(self.folder))
        self.assertEqual(cmake_tools.find_package("gtest"), "1.99.7")


if __name__ == "__main__":
    unittest.main()
