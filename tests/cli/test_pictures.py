# SPDX-License-Identifier: MIT
"""How ./days finds libpng and libjpeg, and libraries that are several files."""
import unittest

from support import Case

from days_cli import catalog, packages, run_build, toolchain
from days_cli.commands import doctor
from days_cli.errors import DaysError


class Pictures(Case):
    def setUp(self):
        super().setUp()
        self.only_fakes()
        self.replace(toolchain, "_PREFIXES", (str(self.folder / "usr"), str(self.folder / "local"), str(self.folder / "brew")))

    def header(self, prefix, name):
        path = self.folder / prefix / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def test_none(self):
        self.assertEqual(toolchain.find_pictures(), (None, ["libpng", "libjpeg"]))

    def test_one_is_not_enough(self):
        self.header("usr", "png.h")
        self.assertEqual(toolchain.find_pictures(), (None, ["libjpeg"]))

    def test_headers_without_pkg_config(self):
        self.header("usr", "png.h")
        self.header("brew", "jpeglib.h")
        pictures, _ = toolchain.find_pictures()
        self.assertEqual(pictures.compile, ("-isystem", f"{self.folder}/brew/include"))
        self.assertEqual(pictures.link, ("-lpng", f"-L{self.folder}/brew/lib", "-ljpeg"))

    def test_pkg_config(self):
        self.tool("pkg-config", 'case "$*" in *--modversion*) echo 1.6;; *libpng*) echo "-I/opt/png -L/opt/lib -lpng16";;'
                                ' *) echo "-ljpeg";; esac')
        pictures, missing = toolchain.find_pictures()
        self.assertEqual((pictures.compile, pictures.link), (("-isystem", "/opt/png"), ("-L/opt/lib", "-lpng16", "-ljpeg")))
        self.assertEqual((pictures.versions, missing), ("libpng 1.6, libjpeg 1.6", []))

    def test_doctor_gives_the_command(self):
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: False)
        finding = doctor._pictures()
        self.assertEqual((finding.status, finding.fix), ("miss", "sudo apt-get install -y libpng-dev libjpeg-dev"))

    def test_json_is_found_installed_or_named(self):
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: False)
        with self.assertRaises(DaysError) as raised:
            toolchain.json_flags()
        self.assertEqual(raised.exception.hint, "sudo apt-get install -y nlohmann-json3-dev")
        self.replace(packages, "is_root", lambda: True)
        self.replace(packages, "install", lambda things: self.header("usr", "nlohmann/json.hpp"))
        self.assertEqual(toolchain.json_flags(), [])
        (self.folder / "usr/include/nlohmann/json.hpp").unlink()
        self.header("brew", "nlohmann/json.hpp")
        self.assertEqual(toolchain.json_flags(), ["-isystem", f"{self.folder}/brew/include"])

    def test_http_is_a_header_or_compiled(self):
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: False)
        self.assertEqual(toolchain.http_flags(), ([], []))
        self.header("brew", "httplib.h")
        self.assertEqual(toolchain.http_flags(), (["-DDAYS_HTTPLIB", "-isystem", f"{self.folder}/brew/include"], []))
        # As Debian has it, whose classes are larger by what it was compiled with.
        self.header("usr", "httplib.h")
        library = self.folder / "usr/lib/x86_64-linux-gnu/libcpp-httplib.so"
        library.parent.mkdir(parents=True)
        library.write_text("")
        flags, link = toolchain.http_flags()
        self.assertEqual((flags[0], link), ("-DDAYS_HTTPLIB", [f"-L{library.parent}", "-lcpp-httplib"]))
        self.assertIn("-DCPPHTTPLIB_OPENSSL_SUPPORT", flags)
        self.tool("pkg-config", 'echo "-DHERE -I/opt/http -L/opt/lib -lcpp-httplib -pthread"')
        self.assertEqual(toolchain.http_flags(), (["-DDAYS_HTTPLIB", "-DHERE", "-isystem", "/opt/http"], ["-L/opt/lib", "-lcpp-httplib"]))

    def test_http_is_installed_where_that_may_be_or_done_without(self):
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: True)

        def fails(things):
            raise DaysError(f"apt-get failed for {things}: no network")

        self.replace(packages, "install", fails)
        self.assertEqual(toolchain.http_flags(), ([], []))
        self.replace(packages, "install", lambda things: self.header("usr", "httplib.h"))
        self.assertEqual(toolchain.http_flags(), (["-DDAYS_HTTPLIB"], []))

    def test_giflib_alone_is_missing(self):
        for name in ("png.h", "jpeglib.h"):
            self.header("usr", name)
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: False)
        finding = doctor._pictures()
        self.assertEqual((finding.status, finding.fix), ("miss", "sudo apt-get install -y libgif-dev"))
        self.assertIn("no giflib: day 33 writes PNG frames, but no GIF", finding.text)
        self.assertEqual(list(run_build._pictures_of(catalog.resolve("33", "run"))), ["pictures"])
        self.header("usr", "gif_lib.h")
        self.assertEqual(doctor._pictures().status, "ok")
        self.assertEqual(list(run_build._pictures_of(catalog.resolve("33", "run"))), ["pictures", "animations"])
        self.assertEqual(run_build._pictures_of(catalog.resolve("1", "run")), {})

    def test_only_what_was_found_is_compiled(self):
        self.assertEqual(run_build._picture_parts(None, None), ([], []))


class SeveralFiles(Case):
    def test_all_or_none(self):
        base = self.folder / "site" / "nvidia" / "cu13"
        for name in ("include/nppi.h", "lib/libnppif.so.13", "lib/libnppicc.so.13", "lib/libnppig.so.13"):
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text("")
        self.replace(toolchain, "site_folders", lambda: [self.folder / "site"])
        compiler = toolchain.Nvcc("nvcc", (13, 0), self.folder / "toolkit", ())
        self.assertEqual(toolchain.find_library("npp", compiler), (None, "pip install 'nvidia-npp==13.0.*'"))
        (base / "lib" / "libnppc.so.13").write_text("")
        library, _ = toolchain.find_library("npp", compiler)
        self.assertEqual([path.rsplit("/", 1)[1] for path in library.binaries],
                         ["libnppif.so.13", "libnppicc.so.13", "libnppig.so.13", "libnppc.so.13"])


if __name__ == "__main__":
    unittest.main()
