# SPDX-License-Identifier: MIT
"""What the interpreter cannot show of a program's threads and of its locks, told to watch.py. A program is one thread there and 128 on a GPU, so
what one line stores another may load in a thread that has not waited for it; and programs run one after the other, so that a lock is
always free. Threads meet at tl.debug_barrier(), at a tl.atomic_cas, after an atomic whose result is used, and wherever values go from
warp to warp: in reductions, scans, tl.dot and their kind. A reduction counts even where its rows lie within warps."""
from __future__ import annotations

import linecache
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from python_days.interpreted import Mistake, interpreter

ATTEMPTS = 10_000  # in vain, one after the other: what nobody changes meanwhile nobody will
_OPS, _ORDER = interpreter._ir.ATOMIC_OP, interpreter._ir.MEM_SEMANTIC
_VERBS = {"load": "loads", "store": "stores", "atomic": "changes"}
_MEETINGS = ("create_dot", "create_gather", "create_histogram", "create_trans", "create_barrier")


@dataclass
class _Access:
    op: str  # "load", "store" or "atomic"
    elements: np.ndarray
    places: np.ndarray  # of the elements in the block: who has the same place in a block of the same shape is the same thread
    shape: tuple  # without extents of 1; () of a single number
    where: tuple

    def __post_init__(self):
        self.low, self.high = int(self.elements.min()), int(self.elements.max())

    def clash(self, later):
        """The first element that another thread has in a later access; None for none."""
        if self.op == later.op != "store" or self.high < later.low or later.high < self.low:
            return None
        both, mine, its = np.intersect1d(self.elements, later.elements, return_indices=True)
        if not self.shape and not later.shape and later.op == "store":
            return None  # one thread stores a single number, which all load; those that load it late store nothing
        if self.shape == later.shape != ():
            apart = self.places[mine] != later.places[its]
            for one in (self, later):  # several places have the element
                apart |= np.isin(both, one.elements[np.setdiff1d(np.arange(one.elements.size), mine if one is self else its)])
            both = both[apart]
        return int(both[0]) if both.size else None


class Threads:
    """Of one launch. report(slug, where, says) is told what is wrong."""

    def __init__(self, report):
        self._report, self._arguments = report, []
        self._sets, self._numbers = [frozenset()], {frozenset(): 0}
        self._kept, self._locked = {}, False
        self.begin(-1)

    def begin(self, program):
        """A program starts, and the one before has ended."""
        self._program, self._held, self._asked = program, frozenset(), (None, 0)
        self.met()

    def met(self):
        self._since = defaultdict(list)

    # ---- accesses ----

    def access(self, op, argument, elements, places, shape, where):
        """Looks at an access beside those of other threads of this program since they met."""
        now, before = _Access(op, elements, places, tuple(extent for extent in shape if extent != 1), where), self._since[argument.base]
        for one in before if op != "load" or any(one.op != "load" for one in before) else ():
            element = one.clash(now)
            if element is not None:
                self._report("hazard", where, f"program {self._program} {_VERBS[op]} {argument.name}[{element}], which line {one.where[1]} {_VERBS[one.op]} "
                             "in another thread, and nothing makes one wait for the other: tl.debug_barrier() does")
                break
        before.append(now)

    def guarded(self, argument, elements):
        """Of which elements each access so far, and this one, was made under one lock; False where there are no locks."""
        if not self._locked:
            return False
        locks = self._kept.get(argument.base)
        if locks is None:
            locks = self._kept[argument.base] = np.where((argument.writer == -1) & (argument.reader == -1), -1, 0)
        mine, now = self._number(self._held), locks[elements]
        for other in np.unique(now[now != mine]):
            now[now == other] = mine if other == -1 else self._number(self._sets[other] & self._held)
        locks[elements] = now
        return now > 0

    def _number(self, locks):
        """Of a set of locks; 0 is none."""
        if locks not in self._numbers:
            self._numbers[locks] = len(self._sets)
            self._sets.append(locks)
        return self._numbers[locks]

    # ---- locks ----

    def compared(self, argument, element, old, wanted, value, order, where):
        """A tl.atomic_cas, which takes a lock where it finds 0 and leaves something else."""
        if old != wanted:
            self._in_vain(argument, element, where)
        elif wanted == 0 and value != 0:
            self._take(argument, element, order, where)

    def exchanged(self, operation, argument, element, old, value, order, where):
        """Another atomic on a single number: it may give a lock back, or take one, or wait."""
        lock, used = (argument.name, element), _is_used(where)
        if lock in self._held and (operation == _OPS.XCHG and value == 0 or operation == _OPS.ADD and old + value == 0 or operation == _OPS.AND and not old & value):
            self._give_back(lock, where, order not in (_ORDER.RELEASE, _ORDER.ACQUIRE_RELEASE) and "says sem='relaxed' or 'acquire', which publishes nothing")
        elif operation == _OPS.XCHG and used and old == 0 and value != 0:
            self._take(argument, element, order, where)
        elif operation == _OPS.XCHG and used and old == value or operation in (_OPS.ADD, _OPS.OR) and used and value == 0:
            self._in_vain(argument, element, where)
        if used:
            self.met()

    def stored(self, argument, elements, where):
        """A plain store gives no lock back: what was stored before may become visible after it."""
        for name, element in self._held:
            if name == argument.name and element in elements:
                self._give_back((name, element), where, "is a plain store, which publishes nothing: tl.atomic_xchg does")

    def _take(self, argument, element, order, where):
        if order not in (_ORDER.ACQUIRE, _ORDER.ACQUIRE_RELEASE):
            self._report("release", where, f"program {self._program} takes the lock {argument.name}[{element}] with sem='relaxed' or 'release': what it then "
                         "loads may be older than the lock")
        self._held, self._locked, self._asked = self._held | {(argument.name, element)}, True, (None, 0)
        self.met()

    def _give_back(self, lock, where, wrong):
        """wrong: why this publishes nothing, where it does not; else what counts is whether all threads have come so far."""
        since = [(one, argument) for argument, accesses in self._since.items() for one in accesses if one.op != "atomic"]
        since.sort(key=lambda pair: pair[0].op != "store")
        if wrong:
            self._report("release", where, f"program {self._program} gives the lock {lock[0]}[{lock[1]}] back, and this {wrong}")
        elif since:
            one = since[0][0]
            self._report("release", where, f"program {self._program} gives the lock {lock[0]}[{lock[1]}] back in one thread, and others may not have come to "
                         f"what line {one.where[1]} {_VERBS[one.op]}: tl.debug_barrier() before it makes them meet")
        self._held -= {lock}

    def _in_vain(self, argument, element, where):
        """Ends the program where it waits for what nobody will do: those before it have ended, and those after it begin when it has."""
        asked = where, argument.name, element
        self._asked = asked, self._asked[1] + 1 if self._asked[0] == asked else 1
        if self._asked[1] == ATTEMPTS:
            says = (f"program {self._program} has looked {ATTEMPTS:,} times at {argument.name}[{element}] in vain: " +
                    ("it holds this lock itself" if (argument.name, element) in self._held else
                     "no program that has run gives it back, and it must not wait for one that may not run yet"))
            self._report("hang", where, says)
            raise Mistake(says)


def hooks(met):
    """[(owner, name, what takes its place)] in the interpreter: met() is called where the threads of a program meet."""
    def meeting(method):
        def wrapped(*given, **named):
            met()
            return method(*given, **named)
        return wrapped
    owners = [*((interpreter.InterpreterBuilder, name) for name in _MEETINGS), (interpreter.ReduceOps, "apply_impl"), (interpreter.ScanOps, "apply_impl")]
    return [(owner, name, meeting(getattr(owner, name))) for owner, name in owners]


def _is_used(where):
    """Whether something is made of what an atomic at this line gives: its threads then wait for it."""
    return not linecache.getline(*where).strip().startswith(("tl.atomic_", "triton.language.atomic_"))


def single(handle):
    """The number that a handle holds, bf16 and all others as they are."""
    return handle.data.reshape(-1)[0]
