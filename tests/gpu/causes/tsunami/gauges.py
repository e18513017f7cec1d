"""Tide gauges: the water level at a few points of the grid in every step."""
import os

import cupy as cp
import numpy as np


class Gauges:
    def __init__(self, places):
        self.rows, self.columns = (np.array(axis) for axis in zip(*places))
        self.series = []
        self.lazy = os.environ.get("V") == "1"
        if self.lazy:
            self.rows_gpu, self.columns_gpu = cp.asarray(self.rows), cp.asarray(self.columns)

    def record(self, level):
        if self.lazy:
            self.series.append(level[self.rows_gpu, self.columns_gpu])
            return
        field = cp.asnumpy(level)
        self.series.append(field[self.rows, self.columns])

    def save(self, path):
        np.save(path, np.stack([cp.asnumpy(entry) for entry in self.series[-2000:]]))
