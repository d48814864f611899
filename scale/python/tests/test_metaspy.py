"""Records this program, and reads the recording."""

import asyncio
import inspect
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading

SPY = pathlib.Path(os.environ["METASPY_TEST_DIRECTORY"]) / "shop.spy"


def emit():
    import metaspy

    class Order:
        def __init__(self, number):
            self.number = number

        @metaspy.observe(site="shop::Order::pay", kind="Order", key=lambda self: self.number)
        def pay(self):
            if self.number % 10 == 3:
                raise ValueError(self.number)
            return self.number

    metaspy.label(("Order", 7), "the seventh")
    metaspy.relate("after", ("Order", 8), ("Order", 7))
    with metaspy.call("shop::day", cause=metaspy.ROOT) as day:
        assert day.event == metaspy.current() != 0
        parent = metaspy.traceparent()
        assert len(parent) == 55, parent
        for number in range(1000):
            try:
                assert Order(number).pay() == number
            except ValueError:
                assert number % 10 == 3
        placed = day.event

        @metaspy.observe(site="shop::pack")
        async def pack(fails):
            await asyncio.sleep(0)
            assert metaspy.current() != placed
            if fails:
                raise ValueError("torn")
            return "packed"

        @metaspy.observe(site="shop::parcels", kind="Parcels")
        def parcels():
            got = yield 1
            return got

        async def pack_both():
            return await asyncio.gather(pack(False), pack(True), return_exceptions=True)

        asyncio.run(deliver_all(metaspy))
        assert metaspy.current() == placed
        packed, torn = asyncio.run(pack_both())
        assert packed == "packed" and isinstance(torn, ValueError)
        check_refused(metaspy)
        both = parcels()
        assert next(both) == 1
        try:
            both.send("sent")
        except StopIteration as returned:
            assert returned.value == "sent"
        assert metaspy.current() == placed
    assert day.event == 0 and metaspy.current() == 0 and metaspy.traceparent() is None
    shipping = threading.Thread(target=lambda: metaspy.instant("shop::Order::ship", ("Order", 7), cause=placed))
    shipping.start()
    shipping.join()
    with metaspy.call("shop::answer", traceparent=parent) as answer:
        answer.failed()


#: Tasks that run at once.
TASKS = 20


async def deliver_all(metaspy):
    """Tasks whose blocks, functions and generators pause in between each other."""
    late = []

    @metaspy.observe(site="tasks::weigh", kind="Task", key=lambda number: number)
    def weigh(number):
        metaspy.instant("tasks::weighed", ("Task", number))

    @metaspy.observe(site="tasks::fetch", kind="Task", key=lambda number: number)
    async def fetch(number):
        with metaspy.call("tasks::wait", ("Task", number)) as wait:
            await asyncio.sleep(0.001 * (number % 3))
            assert metaspy.current() == wait.event
            weigh(number)
        metaspy.instant("tasks::fetched", ("Task", number))
        await asyncio.sleep(0)
        metaspy.instant("tasks::stored", ("Task", number))

    @metaspy.observe(site="tasks::parts", kind="Task", key=lambda number: number)
    async def parts(number):
        try:
            for part in range(3):
                await asyncio.sleep(0)
                assert (yield part) == (part if part < 2 else None)
                metaspy.instant("tasks::sent", ("Task", number))
        finally:
            metaspy.instant("tasks::emptied", ("Task", number))

    async def remind(number):
        await asyncio.sleep(0.01)
        metaspy.instant("tasks::reminded", ("Task", number))

    async def deliver(number):
        around = metaspy.current()
        with metaspy.call("tasks::deliver", ("Task", number)) as call:
            await asyncio.sleep(0.001 * (number % 4))
            weigh(number)
            await fetch(number)
            all_parts = parts(number)
            assert [await all_parts.asend(sent) for sent in (None, 0, 1)] == [0, 1, 2]
            await all_parts.aclose()
            late.append(asyncio.create_task(remind(number)))
            assert metaspy.current() == call.event
        assert metaspy.current() == around

    await asyncio.gather(*(deliver(number) for number in range(TASKS)))
    await asyncio.gather(*late)


def check_tasks(metaspy):
    """All effects of a task have causes in the task."""
    rows = metaspy.query("SELECT e.site, c.site AS cause, e.outcome, count(*) AS n, "
                         "sum(CASE WHEN e.subject_key = c.subject_key THEN 0 ELSE 1 END) AS wrong FROM events AS e "
                         "JOIN events AS c ON e.cause = c.event WHERE e.site LIKE 'tasks::%' GROUP BY e.site, c.site, "
                         "e.outcome ORDER BY e.site, c.site", SPY).to_pylist()
    found = {(row["site"].split("::")[-1], row["cause"].split("::")[-1]): row for row in rows}
    expected = {
        ("deliver", "day"): 1, ("weigh", "deliver"): 1, ("fetch", "deliver"): 1, ("wait", "fetch"): 1,
        ("weigh", "wait"): 1, ("weighed", "weigh"): 2, ("fetched", "fetch"): 1, ("stored", "fetch"): 1,
        ("parts", "deliver"): 1, ("sent", "parts"): 2, ("emptied", "parts"): 1, ("reminded", "deliver"): 1,
    }
    assert {edge: row["n"] for edge, row in found.items()} == {edge: n * TASKS for edge, n in expected.items()}, rows
    assert all(row["wrong"] == 0 for edge, row in found.items() if edge != ("deliver", "day")), rows


def check_refused(metaspy):
    """The function goes on where a key is wrong, and blocks may end in any order."""
    wrong = []
    sys.unraisablehook = lambda fault: wrong.append(fault.exc_type)

    @metaspy.observe(site="shop::wrong", kind="Order", key=lambda number: 1 // 0)
    def observed(number):
        return number

    assert observed(7) == 7 and wrong == [ZeroDivisionError]
    assert inspect.signature(observed) == inspect.signature(lambda number: 0)
    outer, inner = metaspy.call("shop::outer"), metaspy.call("shop::inner")
    around = metaspy.current()
    outer.__enter__(), inner.__enter__()
    outer.__exit__(None, None, None)
    assert metaspy.current() == inner.event
    inner.__exit__(None, None, None)
    assert metaspy.current() == around


def read():
    import pyarrow

    import metaspy

    if not os.environ.get("METASPY_SCALE"):
        print("SKIPPED: query: METASPY_SCALE names no metaspy-scale")
        return
    table = metaspy.query("SELECT site, count(*) AS calls, sum(CASE outcome WHEN 'failed' THEN 1 ELSE 0 END) AS failed "
                          "FROM events WHERE site NOT LIKE 'tasks::%' GROUP BY site ORDER BY site", SPY)
    assert isinstance(table, pyarrow.Table)
    assert table.to_pylist() == [
        {"site": "shop::Order::pay", "calls": 1000, "failed": 100},
        {"site": "shop::Order::ship", "calls": 1, "failed": 0},
        {"site": "shop::answer", "calls": 1, "failed": 1},
        {"site": "shop::day", "calls": 1, "failed": 0},
        {"site": "shop::inner", "calls": 1, "failed": 0},
        {"site": "shop::outer", "calls": 1, "failed": 0},
        {"site": "shop::pack", "calls": 2, "failed": 1},
        {"site": "shop::parcels", "calls": 1, "failed": 0},
        {"site": "shop::wrong", "calls": 1, "failed": 0},
    ], table.to_pylist()
    causes = metaspy.query("SELECT DISTINCT e.subject_kind AS kind, c.site AS cause FROM events AS e "
                           "JOIN events AS c ON e.cause = c.event ORDER BY cause", SPY)
    assert {"kind": "Order", "cause": "shop::day"} in causes.to_pylist(), causes.to_pylist()
    steps = metaspy.query("SELECT site, outcome, count(*) AS calls FROM events WHERE site IN ('shop::pack', 'shop::parcels', "
                          "'tasks::fetch', 'tasks::parts') GROUP BY site, outcome ORDER BY site, outcome", SPY)
    assert [tuple(row.values()) for row in steps.to_pylist()] == [
        ("shop::pack", "failed", 1), ("shop::pack", "returned", 1), ("shop::parcels", "returned", 1),
        ("tasks::fetch", "returned", TASKS), ("tasks::parts", "cancelled", TASKS),
    ], steps.to_pylist()
    check_tasks(metaspy)
    labels = metaspy.query("SELECT label FROM subjects WHERE subject_key = 7 AND subject_kind = 'Order'", SPY)
    assert labels.column("label").to_pylist() == ["the seventh"]
    try:
        metaspy.query("SELECT sit FROM events", SPY)
        raise AssertionError("there is no such column")
    except metaspy.QueryError as error:
        assert "nearest: site" in str(error), error


#: Calls in a pool, in a process of its own, in a child of `os.fork`, and in this process.
CALLS = [("pool", number) for number in range(1000)] + [("one", 7), ("child", 8), ("here", 9)]


def emit_in_workers(method):
    pool = multiprocessing.get_context(method)
    with pool.Pool(3) as workers:
        workers.starmap(square, CALLS[:1000])
        workers.close()
        workers.join()
    one = pool.Process(target=square, args=CALLS[1000])
    one.start()
    one.join()
    child = os.fork()
    if child == 0:
        square(*CALLS[1001])
        os._exit(0)
    os.waitpid(child, 0)
    square(*CALLS[1002])


def read_workers(method):
    """Each call is in a recording, and only what leaves by `os._exit` has not ended its own."""
    import metaspy

    directory = SPY.parent / method
    directory.mkdir()
    environment = {**os.environ, "METASPY_RECORD": str(directory / "run.spy")}
    subprocess.run([sys.executable, __file__, "workers", method], env=environment, check=True)
    if not os.environ.get("METASPY_SCALE"):
        return
    recordings = sorted(directory.glob("*.spy"))
    rows = metaspy.query("SELECT subject_kind AS place, count(*) AS calls FROM events GROUP BY place ORDER BY place",
                         *recordings)
    assert rows.to_pylist() == [{"place": "child", "calls": 1}, {"place": "here", "calls": 1},
                                {"place": "one", "calls": 1}, {"place": "pool", "calls": 1000}], (method, rows)
    states = metaspy.query("SELECT state FROM recordings ORDER BY state", *recordings).column("state").to_pylist()
    assert states.count("killed") == 1 and set(states) == {"closed", "killed"}, (method, states)


def read_service():
    """A service with forked workers waits for each price in turn, and the recording says so."""
    import metaspy

    try:
        import fastapi.testclient  # noqa: F401
    except ImportError:
        print("SKIPPED: a service: install fastapi and httpx")
        return
    directory = SPY.parent / "service"
    directory.mkdir()
    environment = {**os.environ, "METASPY_RECORD": str(directory / "run.spy")}
    subprocess.run([sys.executable, __file__, "service"], env=environment, check=True)
    if not os.environ.get("METASPY_SCALE"):
        return
    recordings = sorted(directory.glob("*.spy"))
    found = metaspy.query("SELECT DISTINCT kind, site FROM findings", *recordings).to_pylist()
    assert found == [{"kind": "n+1", "site": "baskets::price_of"}], found


def serve():
    """Answers requests in two forked workers."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
    import baskets
    from fastapi.testclient import TestClient

    def answer(numbers):
        client = TestClient(baskets.app)
        for number in numbers:
            assert client.get(f"/baskets/{number}").status_code == 200

    pool = multiprocessing.get_context("fork")
    workers = [pool.Process(target=answer, args=(range(at, 100, 2),)) for at in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0


if sys.argv[1:2] == ["workers"]:
    # A worker that imports this file finds the function here, too.
    import metaspy

    def square(place, number):
        with metaspy.call("pool::square", (place, number)):
            return number * number


if __name__ == "__main__":
    if sys.argv[1:] == ["emit"]:
        emit()
    elif sys.argv[1:] == ["service"]:
        serve()
    elif sys.argv[1:2] == ["workers"]:
        emit_in_workers(sys.argv[2])
    else:
        record = {"METASPY_RECORD": str(SPY)}
        subprocess.run([sys.executable, __file__, "emit"], env={**os.environ, **record}, check=True)
        read()
        for method in multiprocessing.get_all_start_methods():
            read_workers(method)
        read_service()
        print("python: emitted and read")
