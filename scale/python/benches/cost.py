"""What `@metaspy.observe` adds to a call: METASPY_RECORD=cost.spy python scale/python/benches/cost.py"""

import time
import timeit

import metaspy

CALLS, ROUNDS = 20_000, 25


class Order:
    def __init__(self, number):
        self.number = number

    def plain(self):
        return self.number

    @metaspy.observe(kind="Order", key=lambda self: self.number)
    def observed(self):
        return self.number


def nanoseconds(method):
    """The time of the processor, in the best of some rounds: other programs add to it."""
    rounds = timeit.repeat(method, number=CALLS, repeat=ROUNDS, timer=time.process_time)
    return min(rounds) / CALLS * 1e9


order = Order(7)
plain, observed = nanoseconds(order.plain), nanoseconds(order.observed)
print(f"plain {plain:.0f} ns, observed {observed:.0f} ns: {observed / plain:.1f} ×")
