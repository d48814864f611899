"""Records this program, and reads the recording."""

import asyncio
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

        packed, torn = asyncio.run(pack_both())
        assert packed == "packed" and isinstance(torn, ValueError)
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


def read():
    import pyarrow

    import metaspy

    if not os.environ.get("METASPY_SCALE"):
        print("SKIPPED: query: METASPY_SCALE names no metaspy-scale")
        return
    table = metaspy.query("SELECT site, count(*) AS calls, sum(CASE outcome WHEN 'failed' THEN 1 ELSE 0 END) AS failed "
                          "FROM events GROUP BY site ORDER BY site", SPY)
    assert isinstance(table, pyarrow.Table)
    assert table.to_pylist() == [
        {"site": "shop::Order::pay", "calls": 1000, "failed": 100},
        {"site": "shop::Order::ship", "calls": 1, "failed": 0},
        {"site": "shop::answer", "calls": 1, "failed": 1},
        {"site": "shop::day", "calls": 1, "failed": 0},
        {"site": "shop::pack", "calls": 4, "failed": 1},
        {"site": "shop::parcels", "calls": 2, "failed": 0},
    ], table.to_pylist()
    causes = metaspy.query("SELECT DISTINCT e.subject_kind AS kind, c.site AS cause FROM events AS e "
                           "JOIN events AS c ON e.cause = c.event ORDER BY cause", SPY)
    assert {"kind": "Order", "cause": "shop::day"} in causes.to_pylist(), causes.to_pylist()
    steps = metaspy.query("SELECT e.site AS step FROM events AS e JOIN events AS c ON e.cause = c.event "
                          "WHERE c.site = e.site ORDER BY step", SPY)
    assert steps.column("step").to_pylist() == ["shop::pack", "shop::pack", "shop::parcels"], steps.to_pylist()
    labels = metaspy.query("SELECT label FROM subjects WHERE subject_key = 7", SPY)
    assert labels.column("label").to_pylist() == ["the seventh"]
    try:
        metaspy.query("SELECT sit FROM events", SPY)
        raise AssertionError("there is no such column")
    except metaspy.QueryError as error:
        assert "nearest: site" in str(error), error


if __name__ == "__main__":
    if sys.argv[1:] == ["emit"]:
        emit()
    else:
        for record in [{"METASPY_RECORD": str(SPY)}]:
            subprocess.run([sys.executable, __file__, "emit"], env={**os.environ, **record}, check=True)
        read()
        print("python: emitted and read")
