"""Linear shallow-water equations on a staggered grid, with bottom friction and an absorbing frame."""
import cupy as cp

G = 9.81

advance_level = cp.ElementwiseKernel(
    "raw float32 hu, raw float32 hv, float32 dt_dx, int32 width, int32 height", "float32 level",
    """
    int y = i / width, x = i % width;
    float east = x + 1 < width ? hu[i + 1] : 0.f, north = y + 1 < height ? hv[i + width] : 0.f;
    level -= dt_dx * (east - hu[i] + north - hv[i]);
    """, "advance_level")

advance_flux = cp.ElementwiseKernel(
    "raw float32 level, float32 depth, float32 g_dt_dx, int32 width, float32 friction", "float32 hu, float32 hv",
    """
    int y = i / width, x = i % width;
    float west = x > 0 ? level[i - 1] : level[i], south = y > 0 ? level[i - width] : level[i];
    hu = (hu - g_dt_dx * depth * (level[i] - west)) * friction;
    hv = (hv - g_dt_dx * depth * (level[i] - south)) * friction;
    """, "advance_flux")


class Ocean:
    def __init__(self, height, width, dx=500.0, depth=4000.0):
        y, x = cp.meshgrid(cp.arange(height, dtype=cp.float32), cp.arange(width, dtype=cp.float32), indexing="ij")
        self.depth = (depth - 3000 * cp.exp(-((x - 0.8 * width) / 200) ** 2)).astype(cp.float32)
        self.level = (3 * cp.exp(-((x - 300) ** 2 + (y - height / 2) ** 2) / 3000)).astype(cp.float32)
        self.hu, self.hv = cp.zeros_like(self.level), cp.zeros_like(self.level)
        edge = cp.minimum(cp.minimum(x, width - 1 - x), cp.minimum(y, height - 1 - y))
        self.sponge = (1 - 0.05 * cp.exp(-edge / 10)).astype(cp.float32)
        self.shape, self.dx = (height, width), dx
        self.dt = 0.4 * dx / (G * depth) ** 0.5

    def step(self):
        height, width = self.shape
        advance_flux(self.level, self.depth, G * self.dt / self.dx, width, 0.99999, self.hu, self.hv)
        advance_level(self.hu, self.hv, self.dt / self.dx, width, height, self.level)
        self.level *= self.sponge
        self.hu *= self.sponge
        self.hv *= self.sponge
