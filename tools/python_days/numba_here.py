# SPDX-License-Identifier: MIT
"""Numba's CUDA on this machine: `from python_days.numba_here import cuda, float32`, before anything else imports numba. On a GPU that is numba.cuda itself. Without one it is Numba's
simulator, with what that hides made up for:

- The simulator starts a block's threads as threads of Python, all at once, so that a missing barrier is right by luck. Here one runs at a
  time, until its barrier or its end, in the order that SIMT_ORDER names, and a barrier that not all threads of the block reach is reported.
- Elements of shared and global memory know who has touched them: two threads at one element, one of them writing, without a barrier
  between them are reported, and so is a read of shared memory that nobody has written.
- Two shared arrays that are made on one line of source are one array to the simulator."""
from __future__ import annotations

import importlib
import os
import sys
import threading
from dataclasses import dataclass

import numpy as np

from python_days.plain import Unavailable

SIMULATED = os.environ.get("DAYS_BACKEND") != "cuda"
if SIMULATED:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # numba reads it as it is imported

try:
    from numba import cuda, float32
except ImportError as error:
    raise Unavailable(f"Numba cannot be imported: {error}") from error

if not SIMULATED:
    try:  # what its compiler would import at the first launch
        importlib.import_module("numba.cuda.np.arrayobj")
    except ImportError:  # an older Numba, which has that elsewhere
        pass
    except AttributeError as error:
        raise Unavailable(f"this Numba does not know NumPy {np.__version__} ({error}): pip install 'numpy<2.5'") from error

__all__ = ["SIMULATED", "Report", "counted", "cuda", "float32"]


class Report(Exception):
    """What a GPU would not have told."""


@dataclass
class Counts:
    """Elements that kernels have read and written since counted() was called."""
    loads: int = 0
    stores: int = 0
    shared_loads: int = 0


_counts = Counts()


def counted():
    """The Counts so far, which then begin anew."""
    global _counts
    was, _counts = _counts, Counts()
    return was


class _Array(np.ndarray):
    """An array whose elements know who has touched them last, and in which interval between two barriers."""

    def __array_finalize__(self, other):
        self.touched = None

    @classmethod
    def of(cls, array, title, shared):
        made = array.view(cls)
        made.title, made.shared, made.touched = title, shared, {}
        return made

    def _element(self, at):
        """The element's place, where a kernel means a single one. A negative index counts from the end, on a GPU as here."""
        place = at if isinstance(at, tuple) else (at,)
        if self.touched is None or len(place) != self.ndim or not all(isinstance(i, (int, np.integer)) for i in place):
            return None
        return tuple(i + n if i < 0 else i for i, n in zip(place, self.shape))

    def __getitem__(self, at):
        place = self._element(at)
        if place is not None:
            self._touch(place, False)
        return super().__getitem__(at)

    def __setitem__(self, at, value):
        place = self._element(at)
        super().__setitem__(at, value)  # IndexError before anything is remembered
        if place is not None:
            self._touch(place, True)

    def _touch(self, place, writes):
        me = threading.current_thread()
        if not isinstance(me, _Thread):
            return
        _count(self.shared, writes)
        here = (me.block, me.interval)
        writer, readers = self.touched.get(place, (None, ()))
        if writer is None and self.shared and not writes:
            raise Report(f"{self._at(place)} is read by thread {me.place}, and nobody has written it")
        others = [writer] if writer else []
        others += readers if writes else ()
        for thread, where in others:
            if thread != me.place and where == here or where[0] != here[0]:
                raise Report(f"{self._at(place)} is {'written' if writes else 'read'} by thread {me.place}, and by {thread} without a "
                             "barrier between them")
        mine = (me.place, here)
        self.touched[place] = (mine, ()) if writes else (writer, (mine,) if not readers or readers[0][1] != here else (readers + (mine,))[-2:])

    def _at(self, place):
        return f"[{', '.join(str(int(i)) for i in place)}] of {self.title}"


def _count(shared, writes):
    if shared:
        _counts.shared_loads += not writes
    elif writes:
        _counts.stores += 1
    else:
        _counts.loads += 1


if SIMULATED:
    from numba.cuda.simulator import kernel as _kernel
    from numba.cuda.simulator import kernelapi as _api
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray

    class _Thread(_kernel.BlockThread):
        """A thread that runs when it is its turn, until its barrier or its end."""

        def __init__(self, target, manager, block, place, debug):
            super().__init__(target, manager, block, place, debug)
            self.block, self.place, self.interval, self.at_barrier = tuple(block), tuple(place), 0, False
            self.turn, self.over = threading.Semaphore(0), manager.over

        def run(self):
            try:
                super().run()
            finally:
                self.at_barrier = False
                self.over.release()

        def syncthreads(self):
            self.at_barrier = True
            self.over.release()
            self.turn.acquire()
            self.at_barrier = False
            self.interval += 1
            if self.abort:
                raise RuntimeError("another thread of the block has failed")

        def goes_on(self):
            """Lets it run until it stops."""
            if self.ident is None:
                self.start()
            else:
                self.turn.release()
            self.over.acquire()

    class _Manager(_kernel.BlockManager):
        """Runs the threads of a block one after the other, in SIMT_ORDER's order."""

        def run(self, grid_point, *arguments):
            self.over = threading.Semaphore(0)
            places = list(np.ndindex(*self._block_dim))
            order = os.environ.get("SIMT_ORDER", "normal")
            if order.startswith("shuffle"):
                places = [places[i] for i in np.random.RandomState(1).permutation(len(places))]
            elif order == "reversed":
                places.reverse()
            threads = [_Thread(lambda: self._f(*arguments), self, grid_point, place, self._debug) for place in places]
            live = threads
            while live:
                for thread in live:
                    thread.goes_on()
                    if thread.exception:
                        self._give_up(threads)
                        error, trace = thread.exception
                        if isinstance(error, Report):  # which names its threads itself
                            error = Report(str(error).partition("]: ")[2])
                        raise error.with_traceback(trace)
                waiting = [thread for thread in live if thread.at_barrier]
                if waiting and len(waiting) < len(threads):
                    self._give_up(threads)
                    raise Report(f"{len(waiting)} of {len(threads)} threads of block {tuple(grid_point)} reach a barrier that the others do not")
                live = waiting

        @staticmethod
        def _give_up(threads):
            for thread in threads:
                if thread.at_barrier:
                    thread.abort = True
                    thread.turn.release()
                    thread.join()

    def _argument(fake):
        return FakeWithinKernelCUDAArray(FakeCUDAArray(_Array.of(fake._ary, "an argument", False)))

    _dynamic = _api.FakeCUDAShared.array

    def _shared(self, shape, dtype, alignment=None):
        """An array for each line of source that asks, as the simulator has it, but watched."""
        frame, me = sys._getframe(1), threading.current_thread()
        if shape == 0:
            return _dynamic(self, shape, dtype, alignment)
        arrays = self.__dict__.setdefault("_watched", {})
        kind = _api.numpy_support.as_dtype(dtype) if isinstance(dtype, _api.types.Type) else dtype
        array, owners = arrays.setdefault((me.block, frame.f_code, frame.f_lineno), (
            _Array.of(np.empty(shape, kind), f"the shared array of line {frame.f_lineno}", True), set()))
        if me.place in owners:
            raise Report(f"line {frame.f_lineno} makes two shared arrays, which are one to the simulator: give each a line of its own")
        owners.add(me.place)
        return array

    _kernel.BlockManager = _Manager
    _kernel.FakeWithinKernelCUDAArray = _argument
    _api.FakeCUDAShared.array = _shared
