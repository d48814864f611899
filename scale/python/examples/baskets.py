"""A small service, whose recording says what is wrong with it."""

import asyncio
import random

import metaspy
from fastapi import FastAPI

app = FastAPI()
BASKETS = {number: random.Random(number).sample(range(60), 8) for number in range(100)}


@metaspy.observe(kind="Item", key=lambda item: item)
async def price_of(item):
    await asyncio.sleep(0.002)  # asks a database
    return 3 * item


@app.get("/baskets/{basket}")
@metaspy.observe(kind="Basket", key=lambda basket: basket)
async def total(basket: int):
    return sum([await price_of(item) for item in BASKETS[basket]])
