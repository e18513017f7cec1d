"""The time of a step, over the second half of a run."""
import time


class StepClock:
    def __init__(self, seconds, synchronize):
        self.seconds, self.synchronize = seconds, synchronize
        self.start = self.half = self.end = None
        self.count = self.half_count = 0

    def goes_on(self):
        """Call it after each step; False: the time is over."""
        self.count += 1
        now = time.perf_counter()
        if self.start is None:
            self.start = now
        elif self.half is None and now - self.start > self.seconds / 2:
            self.half, self.half_count = self.synchronized(), self.count
        elif now - self.start > self.seconds:
            self.end = self.synchronized()
        return self.end is None

    def synchronized(self):
        self.synchronize()
        return time.perf_counter()

    def __str__(self):
        steps = self.count - self.half_count
        return f"steady step {1000 * (self.end - self.half) / steps:.3f} ms over {steps} of {self.count} steps"
