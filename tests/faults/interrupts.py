"""Ctrl-C at each place of a program where Python notices it, one after the other.

Python runs the handler of a signal only between certain instructions: after a call, at
the start of a function, and at the end of each round of a loop. Raising an exception
from a trace function would also hit others, such as those that leave a ``with`` block.
So the trace function here only notes the signal, as Ctrl-C does, and Python decides
when.
"""

from __future__ import annotations
import ctypes
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# Note SIGINT. Written in C, so that Python does not notice the signal before the traced
# frame goes on; nor may it while it traces what that frame calls.
_Trace: Any = ctypes.PYFUNCTYPE(None, *[ctypes.py_object] * 3)
_note, _ignore = (
    _Trace((name, ctypes.pythonapi))
    for name in ("PyErr_SetInterrupt", "Py_IsInitialized")
)


def interrupt_each(
    call: Callable[[], object], check: Callable[[], object], every: int = 1
) -> int:
    """Interrupt *call* after its first instruction, after its second, and so on, until
    it ends before that.

    Args:
        call: What to interrupt; it may end with `KeyboardInterrupt` or return.
        check: Called after each of them.
        every: How many instructions to go on.

    Returns:
        How often it was interrupted.

    """
    interrupted = 0
    while _interrupt_after(interrupted * every, call):
        interrupted += 1
        check()
    return interrupted


def _interrupt_after(instructions: int, call: Callable[[], object]) -> bool:
    """Interrupt *call* once, after so many instructions of the functions that it calls;
    return whether it had so many.
    """
    left = instructions
    was_noted = False

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return None  # there, Python itself would keep the lock of all imports
        # also where a generator waits, whose end should not call this function either
        if event == "return":
            frame.f_trace = None
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            left -= 1
            if left < 0:
                outer = frame.f_back
                # this function, called there, would notice the signal itself
                while outer is not None:
                    outer.f_trace, outer = None, outer.f_back
                sys.settrace(_ignore)
                return _note  # for the next instruction of this frame
        return trace

    def handle(*_: object) -> None:
        nonlocal was_noted
        sys.settrace(None)
        if not was_noted:
            was_noted = True
            raise KeyboardInterrupt

    before, tracing, hook = (
        signal.signal(signal.SIGINT, handle),
        sys.gettrace(),
        sys.unraisablehook,
    )
    # where Ctrl-C comes while a generator is closed, Python cannot raise it
    sys.unraisablehook = lambda _: None
    try:
        try:
            sys.settrace(trace)
            call()
        finally:
            sys.settrace(tracing)
    except KeyboardInterrupt:
        assert was_noted  # else it is the one of whoever runs the tests
    finally:
        # again: the signal may have been noticed only after the first time
        sys.settrace(tracing)
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)
    return was_noted
