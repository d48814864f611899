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
_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / _NAME))

#: Stands for no cause.
ROOT = 2**64 - 1
_RETURNED, _SUCCEEDED, _FAILED = 1, 2, 3


class _Room(ctypes.Structure):
    _fields_ = [("room", ctypes.c_uint64 * 24)]


def _declare(name, result, *arguments):
    function = getattr(_library, "metaspy_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_text, _site, _room = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(_Room)
_kind, _key, _event = ctypes.c_uint16, ctypes.c_uint64, ctypes.c_uint64
_site_at = _declare("site_at", _site, _text, _text, ctypes.c_uint32)
_kind_of = _declare("kind_of", _kind, _text)
_is_armed = _declare("is_armed", ctypes.c_bool, _site)
_begin = _declare("begin", None, _room, _site, _kind, _key, _event)
_begin_remote = _declare("begin_remote", None, _room, _site, _kind, _key, _text)
_event_of = _declare("event_of", _event, _room)
_end = _declare("end", None, _room, ctypes.c_uint)
_instant = _declare("instant", _event, _site, _kind, _key, _event)
_current = _declare("current", _event)
_link = _declare("link", ctypes.c_bool, _event, _event)
_traceparent = _declare("traceparent", ctypes.c_bool, ctypes.c_char_p)
_label = _declare("label", None, _kind, _key, _text)
_relate = _declare("relate", None, _text, _kind, _key, _kind, _key)
_forget = _declare("forget", None, _kind, _key)


def _c_text(text):
    return str(text).replace("\0", "").encode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def _site_of(path, file="", line=0):
    return _site_at(_c_text(path), _c_text(file), line)


@functools.lru_cache(maxsize=None)
def _kind_named(name):
    return _kind_of(_c_text(name))


def _subject(subject):
    if subject is None:
        return 0, 0
    kind, key = subject
    return _kind_named(kind), int(key) & (2**64 - 1)


class call:
    """A call that runs as long as the block: `with metaspy.call("shop::Order::pay", ("Order", 7)) as pay`.

    `cause` is the number of an event, or ROOT; by default it is the event around. `traceparent` names a cause in
    another process. A block that raises ends as failed.
    """

    def __init__(self, site, subject=None, cause=0, traceparent=None, *, file="", line=0):
        self._site, self._subject = _site_of(site, file, line), subject
        self._cause, self._traceparent, self._outcome = cause, traceparent, _RETURNED
        self._begun = None

    def __enter__(self):
        if _is_armed(self._site):
            self._begun = _Room()
            kind, key = _subject(self._subject)
            if self._traceparent is None:
                _begin(self._begun, self._site, kind, key, self._cause)
            else:
                _begin_remote(self._begun, self._site, kind, key, _c_text(self._traceparent))
        return self

    def __exit__(self, error, *_):
        if self._begun is not None:
            begun, self._begun = self._begun, None
            _end(begun, self._outcome if error is None else _FAILED)

    @property
    def event(self):
        """The number of the event while the call runs; 0 if it is not recorded."""
        return 0 if self._begun is None else _event_of(self._begun)

    def succeeded(self):
        """The call will end as succeeded."""
        self._outcome = _SUCCEEDED

    def failed(self):
        """The call will end as failed."""
        self._outcome = _FAILED


def observe(function=None, *, site=None, kind=None, key=None):
    """Observes the calls of a function. `key` computes the number of the subject from the arguments.

    The subject of a method without `key` is the place of its object, as `id` gives it. Each step of a coroutine or a
    generator is a call.
    """
    if function is None:
        return functools.partial(observe, site=site, kind=kind, key=key)
    path = site or f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "").replace(".", "::")
    code = getattr(function, "__code__", None)
    at = _site_of(path, code.co_filename if code else "", code.co_firstlineno if code else 0)

    def begin(arguments, named, cause=0):
        about, number = 0, 0
        if kind is not None and (key or arguments):
            about, number = _subject((kind, key(*arguments, **named) if key else id(arguments[0])))
        begun = _Room()
        _begin(begun, at, about, number, cause)
        return begun

    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def observed(*arguments, **named):
            run = function(*arguments, **named)
            return await _Steps(run, functools.partial(begin, arguments, named)) if _is_armed(at) else await run
    elif inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def observed(*arguments, **named):
            run = function(*arguments, **named)
            return (yield from _Steps(run, functools.partial(begin, arguments, named)) if _is_armed(at) else run)
    else:
        @functools.wraps(function)
        def observed(*arguments, **named):
            if not _is_armed(at):
                return function(*arguments, **named)
            begun, outcome = begin(arguments, named), _FAILED
            try:
                result = function(*arguments, **named)
                outcome = _RETURNED
                return result
            finally:
                _end(begun, outcome)

    return observed


class _Steps:
    """The run of a coroutine or a generator. Each step, from a start to the next pause, is a call: in a pause, the thread
    runs something else. The first step is the cause of the others."""

    def __init__(self, run, begin):
        self._run, self._begin, self._first = run, begin, 0

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
        self._run.close()

    def _step(self, go_on, *arguments):
        begun, outcome = self._begin(cause=self._first), _FAILED
        self._first = self._first or _event_of(begun)
        try:
            value = go_on(*arguments)
            outcome = _RETURNED
            return value
        except StopIteration:
            outcome = _RETURNED
            raise
        finally:
            _end(begun, outcome)


def instant(site, subject=None, cause=0):
    """Records an event without length. Returns its number; 0 if it is not recorded."""
    return _instant(_site_of(site), *_subject(subject), cause)


def current():
    """The number of the event in which this thread is; 0 if there is none."""
    return _current()


def link(effect, cause):
    """Adds a further reason to an event."""
    return _link(effect, cause)


def traceparent():
    """The W3C traceparent of the event in which this thread is; None if there is none."""
    out = ctypes.create_string_buffer(56)
    return out.value.decode() if _traceparent(out) else None


def label(subject, text):
    """Labels a subject."""
    _label(*_subject(subject), _c_text(text))


def relate(relation, one, other):
    """Relates two subjects."""
    _relate(_c_text(relation), *_subject(one), *_subject(other))


def forget(subject):
    """Ends a subject, so that its key may name another one."""
    _forget(*_subject(subject))


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
