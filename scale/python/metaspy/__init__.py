"""Calls, subjects and causes in a recording of metaspy, and recordings as Arrow tables.

What is emitted goes into the recording that the environment variable METASPY_RECORD names when this module is
imported. A subject is a pair of a kind and a number: ("Order", 7).
"""

import ctypes
import functools
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile

_NAME = "libmetaspy_c.dylib" if sys.platform == "darwin" else "libmetaspy_c.so"
# The module below calls its functions.
_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / _NAME), ctypes.RTLD_GLOBAL)

from . import _metaspy  # noqa: E402

#: Stands for no cause.
ROOT = 2**64 - 1
_RETURNED, _SUCCEEDED, _FAILED, _CANCELLED = 1, 2, 3, 5


def _declare(name, result, *arguments):
    function = getattr(_library, "metaspy_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_text, _site = ctypes.c_char_p, ctypes.c_void_p
_kind, _key, _event = ctypes.c_uint16, ctypes.c_uint64, ctypes.c_uint64
_site_at = _declare("site_in", _site, _text, _text, ctypes.c_uint32, ctypes.c_bool)
_kind_of = _declare("kind_of", _kind, _text)
_is_armed = _declare("is_armed", ctypes.c_bool, _site)
_instant = _declare("instant", _event, _site, _kind, _key, _event)
_link = _declare("link", ctypes.c_bool, _event, _event)
_traceparent_of = _declare("traceparent_of", ctypes.c_bool, _event, ctypes.c_char_p)
_label = _declare("label", None, _kind, _key, _text)
_relate = _declare("relate", None, _text, _kind, _key, _kind, _key)
_forget = _declare("forget", None, _kind, _key)
_forked = _declare("forked", ctypes.c_bool)
_end_recording = _declare("end_recording", None)


def _c_text(text):
    return str(text).replace("\0", "").encode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def _site_of(path, file="", line=0, in_steps=False):
    return _site_at(_c_text(path), _c_text(file), line, in_steps) or 0


@functools.lru_cache(maxsize=None)
def _kind_named(name):
    return _kind_of(_c_text(name))


def _subject(subject):
    if subject is None:
        return 0, 0
    kind, key = subject
    return _kind_named(kind), int(key) & (2**64 - 1)


# Code whose frame pauses: in a pause, its thread runs something else.
_PAUSES = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


class call:
    """A call that runs as long as the block: `with metaspy.call("shop::Order::pay", ("Order", 7)) as pay`.

    `cause` is the number of an event, or ROOT; by default it is the event around. `traceparent` names a cause in
    another process. A block that raises ends as failed. The block may await: it is the cause of what its task begins in
    it, and of tasks that it creates, but not of what other tasks do meanwhile. How long it took is its `wall` time.
    """

    def __init__(self, site, subject=None, cause=0, traceparent=None, *, file="", line=0):
        self._site, self._subject = (site, file, line), subject
        self._cause, self._traceparent, self._outcome = cause, traceparent, _RETURNED
        self._begun = None

    def __enter__(self):
        pauses = bool(sys._getframe(1).f_code.co_flags & _PAUSES)
        site = _site_of(*self._site, pauses)
        if _is_armed(site):
            parent = None if self._traceparent is None else _c_text(self._traceparent).decode()
            self._begun = _metaspy.begin(site, *_subject(self._subject), self._cause, parent)
            if pauses:
                self._begun.leave()
        return self

    def __exit__(self, error, *_):
        if self._begun is not None:
            begun, self._begun = self._begun, None
            begun.end(self._outcome if error is None else _outcome_of(error))

    @property
    def event(self):
        """The number of the event while the call runs; 0 if it is not recorded."""
        return 0 if self._begun is None else self._begun.event

    def succeeded(self):
        """The call will end as succeeded."""
        self._outcome = _SUCCEEDED

    def failed(self):
        """The call will end as failed."""
        self._outcome = _FAILED


def _outcome_of(error):
    """How a call ended that raised an error of this type."""
    is_cancelled = issubclass(error, GeneratorExit) or error.__name__ == "CancelledError"
    return _CANCELLED if is_cancelled else _FAILED


def observe(function=None, *, site=None, kind=None, key=None):
    """Observes the calls of a function. `key` computes the number of the subject from the arguments.

    The subject of a method without `key` is the place of its object, as `id` gives it. A coroutine or a generator, also
    an asynchronous one, is one call, from its first step to its end.
    """
    if function is None:
        return functools.partial(observe, site=site, kind=kind, key=key)
    path = site or f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "").replace(".", "::")
    code = getattr(function, "__code__", None)
    in_steps = code is not None and bool(code.co_flags & _PAUSES)
    at = _site_of(path, code.co_filename if code else "", code.co_firstlineno if code else 0, in_steps)
    of_calls = _metaspy.Observed(function, key, at, 0 if kind is None else _kind_named(kind))

    def steps_of(arguments, named):
        return _Steps(at, *of_calls.subject(arguments, named)) if _is_armed(at) else _Unobserved

    if inspect.iscoroutinefunction(function):
        async def observed(*arguments, **named):
            return await steps_of(arguments, named).drive(function(*arguments, **named))
    elif inspect.isgeneratorfunction(function):
        def observed(*arguments, **named):
            return (yield from steps_of(arguments, named).drive(function(*arguments, **named)))
    elif inspect.isasyncgenfunction(function):
        async def observed(*arguments, **named):
            steps, run = steps_of(arguments, named), function(*arguments, **named)
            step = run.asend(None)
            while True:
                try:
                    value = await steps.drive_on(step)
                except StopAsyncIteration:
                    return
                try:
                    step = run.asend((yield value))
                except GeneratorExit:
                    await steps.drive_on(run.aclose())
                    steps.end(_CANCELLED)
                    raise
                except BaseException as error:
                    step = run.athrow(error)
    else:
        observed = of_calls
    return functools.wraps(function)(observed)


class _Unobserved:
    """The steps of a call that is not observed."""

    @staticmethod
    def drive(run):
        return run

    drive_on = drive

    @staticmethod
    def end(outcome):
        pass


class _Steps:
    """The steps of a coroutine or a generator. Together they are one call, from the first step to the end of the last. A
    step goes on in the block of `call` in which the last one paused."""

    def __init__(self, site, kind, key):
        self._about, self._begun, self._inner, self._is_over = (site, kind, key), None, None, False

    def drive(self, run):
        """What runs to the end of the call."""
        return _Driven(run, self, _ENDS)

    def drive_on(self, run):
        """What runs to the next value of an asynchronous generator."""
        return _Driven(run, self, StopAsyncIteration)

    def take(self, ends, go_on, *arguments):
        """Takes a step. `ends` are the exceptions that say that the call has returned."""
        if self._is_over:
            return go_on(*arguments)
        if self._begun is None:
            self._begun = _metaspy.begin(*self._about, 0, None)
        self._begun.step(self._inner)
        try:
            value = go_on(*arguments)
        except ends:
            self.end(_RETURNED)
            raise
        except StopIteration:
            self._inner = self._begun.pause()
            raise
        except BaseException as error:
            self.end(_outcome_of(type(error)))
            raise
        self._inner = self._begun.pause()
        return value

    def end(self, outcome):
        if self._begun is not None:
            begun, self._begun = self._begun, None
            begun.pause()
            begun.end(outcome)
        self._is_over = True


#: What says that a coroutine or a generator has returned.
_ENDS = (StopIteration, StopAsyncIteration)


class _Driven:
    """A coroutine or a generator, driven step by step."""

    def __init__(self, run, steps, ends):
        self._run, self._steps, self._ends, self._is_suspended = run, steps, ends, False

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        return self.send(None)

    def send(self, value):
        return self._step(self._run.send, value)

    def throw(self, *error):
        return self._step(self._run.throw, *error)

    def close(self):
        # What has not begun, or has ended, has no step.
        if self._is_suspended:
            self._is_suspended = False
            self._steps.take(self._ends, self._run.close)
            self._steps.end(_CANCELLED)
        else:
            self._run.close()

    def _step(self, go_on, *arguments):
        self._is_suspended = False
        value = self._steps.take(self._ends, go_on, *arguments)
        self._is_suspended = True
        return value


def instant(site, subject=None, cause=0):
    """Records an event without length. Returns its number; 0 if it is not recorded."""
    return _instant(_site_of(site), *_subject(subject), cause or _metaspy.cause())


def current():
    """The number of the event in which this task or thread is; 0 if there is none."""
    return _metaspy.current()


def link(effect, cause):
    """Adds a further reason to an event."""
    return _link(effect, cause)


def traceparent():
    """The W3C traceparent of the event in which this task or thread is; None if there is none."""
    out = ctypes.create_string_buffer(56)
    return out.value.decode() if _traceparent_of(_metaspy.current(), out) else None


def label(subject, text):
    """Labels a subject."""
    _label(*_subject(subject), _c_text(text))


def relate(relation, one, other):
    """Relates two subjects."""
    _relate(_c_text(relation), *_subject(one), *_subject(other))


def forget(subject):
    """Ends a subject, so that its key may name another one."""
    _forget(*_subject(subject))


def _end_with_workers():
    """Ends the recording of a worker, which leaves by `os._exit`."""
    for pool in (sys.modules.get("multiprocessing.util"), sys.modules.get("billiard.util")):
        if pool is not None:
            # A worker forgets what is registered with `Finalize` before this.
            pool.register_after_fork(_end_recording, functools.partial(pool.Finalize, None, exitpriority=0))


def _in_forked_child():
    """A worker that is forked, as by `multiprocessing`, gunicorn or celery, has a recording of its own."""
    if _forked():
        _end_with_workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
# A worker of a `forkserver` is forked before it imports this module.
_end_with_workers()


class QueryError(Exception):
    """A query or a recording that cannot be read."""


def query(sql, *recordings):
    """Runs SQL on recordings and sealed sets, and returns a pyarrow.Table. docs/scale.md describes the tables.

    A warning, such as about a damaged recording, is printed on standard error.
    """
    import pyarrow.ipc

    program = os.environ.get("METASPY_SCALE", "metaspy-scale")
    command = [program, "query", "--format", "arrow", sql, *(os.fspath(recording) for recording in recordings)]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        except FileNotFoundError:
            raise QueryError(f"there is no program {program}: cargo install --locked --path scale") from None
        with process, process.stdout as stream:
            data = stream.read()
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace").strip()
    if process.returncode not in (0, 1):
        raise QueryError(text or f"{program} ended with {process.returncode}")
    if text:
        print(text, file=sys.stderr)
    return pyarrow.ipc.open_stream(data).read_all()
