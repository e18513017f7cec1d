#!/usr/bin/env python3
"""ways.py GPU: launches in each way that Python has to call a function. GPU is the path of
tests/e2e/gpu.py. Runs on 3.8 and later.
"""
import asyncio
import functools
import importlib.util
import sys
import threading

spec = importlib.util.spec_from_file_location("gpu", sys.argv[1])
gpu = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpu)
device = gpu.Device()


def launch():
    device.call("cuLaunchKernel", device.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)


def recurse(depth):
    if depth > 0:
        recurse(depth - 1)
        launch()


def batches():
    for number in range(3):
        launch()
        yield number


def delegate():
    yield from batches()


async def fetch():
    await asyncio.sleep(0)
    launch()
    await asyncio.sleep(0)
    launch()


async def serve():
    await asyncio.gather(fetch(), fetch())
    await fetch()


class Model:
    class Layer:
        def __call__(self):
            launch()

    def __init__(self):
        self.layer = self.Layer()
        self.layer()

    @property
    def loss(self):
        launch()


def work():
    device.call("cuCtxSetCurrent", device.context)
    launch()


def callbacks():
    sorted((2, 1), key=lambda number: launch() or number)
    functools.reduce(lambda a, b: launch(), range(3))
    exec("def made():\n  launch()\nmade()", globals())


def main():
    recurse(3)
    list(delegate())
    asyncio.run(serve())
    Model().loss
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    callbacks()
    device.call("cuCtxSynchronize")


main()
