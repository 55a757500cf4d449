"""Quantised models as a processor with other instructions computes them: each of their outputs differs a little, at random.

Products of 8-bit numbers are exact on every processor (`convinse/encoder/onnx_backend.py`), but what is between them is in floating point, whose last
digits depend on the instructions, and so does the level that a number is rounded to. The same text gets the same difference each time.
"""

import zlib

import numpy as np

from convinse.encoder.onnx_backend import OnnxBackend

# of log odds: a probability changes by a hundredth at most, on average as on an emulated processor without VNNI (see CONTRIBUTING)
LARGEST = 0.04
OF_VECTORS = 0.01  # of their length


def perturb(seed: int) -> None:
    """Change the outputs of all models that are opened in int8 from now on."""
    start = OnnxBackend.start

    def changed(backend, sequences, places, outputs):
        computed = start(backend, sequences, places, outputs)
        if backend.precision != "int8":
            return computed
        return lambda: tuple(
            np.stack([_other(row, name, seed) for row in array]) if len(array) else array
            for name, array in zip(outputs, computed(), strict=True)
        )

    OnnxBackend.start = changed


def _other(row: np.ndarray, name: str, seed: int) -> np.ndarray:
    chance = np.random.default_rng([seed, zlib.crc32(np.ascontiguousarray(row).tobytes())])
    noise = chance.uniform(-1, 1, row.shape)
    size = OF_VECTORS * np.linalg.norm(row) / np.linalg.norm(noise) if name == "embedding" else LARGEST
    return (row + size * noise).astype(row.dtype)
