# SPDX-License-Identifier: MIT
"""A day's shared library (common/library.h) in Python: its rungs by name, and contests with the day's inputs and checks."""
from __future__ import annotations

import ctypes
import json
import math

from days_cli.errors import ENVIRONMENT, WRONG, DaysError

_SIZE, _POINTER, _TEXT = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
_SHAPE = (ctypes.POINTER(ctypes.c_int64), _SIZE)
# name: (result, arguments)
_FUNCTIONS = {
    "days_error": (_TEXT, ()),
    "days_description": (_TEXT, ()),
    "days_launch": (ctypes.c_int, (_TEXT, _TEXT, _TEXT, *_SHAPE, ctypes.POINTER(_POINTER), _SIZE, _POINTER, _SIZE, _POINTER)),
    "days_wait": (ctypes.c_int, (_POINTER,)),
    "days_upload": (ctypes.c_int, (_POINTER, _POINTER, _SIZE)),
    "days_download": (ctypes.c_int, (_POINTER, _POINTER, _SIZE)),
    "days_contest_open": (_POINTER, (_TEXT, _TEXT, *_SHAPE)),
    "days_contest_close": (None, (_POINTER,)),
    "days_contest_buffers": (_TEXT, (_POINTER,)),
    "days_contest_prepare": (ctypes.c_int, (_POINTER, _TEXT)),
    "days_contest_launch": (ctypes.c_int, (_POINTER, _TEXT, _POINTER)),
    "days_contest_verify": (_TEXT, (_POINTER,)),
    "days_flush": (ctypes.c_int, (_POINTER,)),
    "days_timer_start": (ctypes.c_int, (_POINTER,)),
    "days_timer_stop": (ctypes.c_int, (_POINTER,)),
    "days_timer_seconds": (ctypes.c_double, ()),
}
SIZES = {"fp8_e4m3": 1, "fp8_e5m2": 1, "uint4": 0.5, "fp32": 4, "fp64": 8, "fp16": 2, "bf16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
         "int64": 8, "uint64": 8}


class Refused(DaysError):
    """A function of the library said no; .code is its exit code."""


class Library:
    def __init__(self, path):
        try:
            self._c = ctypes.CDLL(str(path))
        except OSError as error:
            raise DaysError(f"{path} cannot be loaded: {error}", "./days doctor", ENVIRONMENT) from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, arguments

    def check(self, code):
        """Raises what the library says where a call failed."""
        if code:
            self.refused(code)

    def refused(self, code=WRONG):
        raise Refused(self._c.days_error().decode(), code=code)

    def description(self):
        return json.loads(self._text(self._c.days_description()))

    def _text(self, text):
        if text is None:
            self.refused()
        return text.decode()

    def launch(self, ladder, kind, row, shape, pointers, workspace=None, workspace_bytes=0, stream=None):
        """A rung on device pointers of the caller's; does not wait."""
        self.check(self._c.days_launch(ladder.encode(), kind.encode(), row.encode(), *_shape(shape),
                                       (_POINTER * len(pointers))(*pointers), len(pointers), workspace, workspace_bytes,
                                       stream))

    def wait(self, stream=None):
        """Until what is queued on the stream is done."""
        self.check(self._c.days_wait(stream))

    def upload(self, pointer, data):
        """data: bytes."""
        self.check(self._c.days_upload(pointer, (ctypes.c_char * len(data)).from_buffer_copy(data), len(data)))

    def download(self, pointer, count):
        data = ctypes.create_string_buffer(count)
        self.check(self._c.days_download(data, pointer, count))
        return data.raw

    def contest(self, ladder, kind, shape):
        return Contest(self, self._c, ladder, kind, shape)

    def timed(self, body, stream):
        """Seconds that what body() queues on the stream takes, with a cold L2 cache."""
        self.check(self._c.days_flush(stream))
        self.check(self._c.days_timer_start(stream))
        body()
        self.check(self._c.days_timer_stop(stream))
        seconds = self._c.days_timer_seconds()
        if seconds < 0:
            self.refused()
        return seconds


def _shape(numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers), len(numbers)


class Buffer:
    """role: input, output or in-place; dims: the extents that it was made with; pointer: on the device."""

    def __init__(self, library, found):
        self._library = library
        self.role, self.type, self.n = found["role"], found["type"], found["n"]
        self.dims, self.pointer = found["dims"], found["pointer"]
        self.bytes = math.ceil(self.n * SIZES[self.type])

    def read(self):
        return self._library.download(self.pointer, self.bytes)

    def write(self, data):
        if len(data) != self.bytes:
            raise DaysError(f"{len(data)} bytes for a buffer of {self.bytes}", code=WRONG)
        self._library.upload(self.pointer, data)


class Contest:
    """A problem of a ladder on which contestants compete; close it, or use it in a with."""

    def __init__(self, library, functions, ladder, kind, shape):
        self._library, self._c = library, functions
        self.ladder, self.type, self.shape = ladder, kind, list(shape)
        self._handle = functions.days_contest_open(ladder.encode(), kind.encode(), *_shape(shape))
        if not self._handle:
            library.refused()
        self.buffers = [Buffer(library, found) for found in
                        json.loads(library._text(functions.days_contest_buffers(self._handle)))]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._handle:
            self._c.days_contest_close(self._handle)
            self._handle = None

    @property
    def outputs(self):
        return [buffer for buffer in self.buffers if buffer.role != "input"]

    def prepare(self, row=None):
        """row: one of the ladder's, or None for a contestant from elsewhere."""
        self._library.check(self._c.days_contest_prepare(self._handle, row.encode() if row else None))

    def launch(self, row, stream=None):
        self._library.check(self._c.days_contest_launch(self._handle, row.encode(), stream))

    def verify(self):
        """{"ok", "worst", "lines"} of what is in the outputs now."""
        return json.loads(self._library._text(self._c.days_contest_verify(self._handle)))
