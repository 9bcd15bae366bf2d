"""Arrays of a flow on a GPU, read where they lie by cupy or torch. Skipped where there is no GPU, or neither of them."""

import importlib.util
import unittest
import warnings

import numpy as np

import lbmc

CASE = {
    "spec": "d2q9_bgk",
    "target": "cuda",
    "precision": "f32",
    "domain": {"size": [64, 64]},
    "fluid": {"viscosity": 0.05, "velocity": 0.02},
    "faces": {"others": "periodic"},
    "stop": {"steps": 200},
}


class Gpu(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", lbmc.Advice)
        try:
            self.flow = lbmc.Case(CASE).start()
        except lbmc.Error as error:
            self.skipTest(error.message)
        x = np.arange(64)
        self.flow.set_fields(rho=1 + 0.01 * np.sin(x / 3))
        self.flow.step(4)
        array = self.flow.memory("populations")
        self.assertEqual((array.__dlpack_device__(), array.gpu), ((2, 0), 0))
        self.assertFalse(hasattr(array, "__array_interface__"))
        self.array = array

    def compare(self, stored):
        """What was read on the GPU is what the host gets."""
        whole = np.empty((9, 64, 64))
        by, bx = stored.shape[-2:]
        for slot, _, i, j, _ in self.flow.blocks:
            part = stored[slot, :, 0] + self.flow.rest[:, None, None]
            whole[:, j * by : (j + 1) * by, i * bx : (i + 1) * bx] = part
        self.assertTrue(np.array_equal(whole, self.flow.populations))

    @unittest.skipUnless(importlib.util.find_spec("cupy"), "no cupy")
    def test_cupy_reads_populations_where_they_are(self):
        import cupy

        exchanged, viewed = cupy.from_dlpack(self.array), cupy.asarray(self.array)
        self.assertEqual(exchanged.data.ptr, viewed.data.ptr)
        self.compare(cupy.asnumpy(exchanged))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no torch")
    def test_torch_reads_populations_where_they_are(self):
        import torch

        exchanged = torch.from_dlpack(self.array)
        address = self.array.__cuda_array_interface__["data"][0]
        self.assertEqual((exchanged.data_ptr(), exchanged.device.index), (address, 0))
        self.compare(exchanged.cpu().numpy())


if __name__ == "__main__":
    unittest.main()
