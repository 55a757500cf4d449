"""The examples of a training as tokens, in the order in which it reads them: a machine with this file needs no data."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from convinse.support.errors import DataError, one_line
from convinse.support.files import replacing
from convinse.support.zstd import zstd
from recipes.embedded.batches import Batch

_WINDOW = 27  # 128 MB, so that equal paragraphs far apart are found
_PACKING = {
    zstd.CompressionParameter.compression_level: 19,
    zstd.CompressionParameter.window_log: _WINDOW,
    zstd.CompressionParameter.enable_long_distance_matching: 1,
}
_UNPACKING = {zstd.DecompressionParameter.window_log_max: _WINDOW}


@dataclass(frozen=True)
class Prepared:
    """The examples of a training, and those that it is validated on."""

    train: Batch  # in the order in which they are learned from
    steps: np.ndarray  # [n + 1] where each step begins
    dev: dict[str, Batch]  # by the name of their set
    run_id: str  # of the data
    sizes: dict[str, int]  # how many examples each set has

    def write(self, path: Path) -> None:
        """Write everything into a compressed file."""
        arrays = {"steps": self.steps}
        for part, made in {"train": self.train, **self.dev}.items():
            arrays |= {f"{part}/{name}": array for name, array in made.arrays().items()}
        about = {"run_id": self.run_id, "sizes": self.sizes, "dev": list(self.dev)}
        with replacing(path) as temporary:
            temporary.write_bytes(zstd.compress(save(arrays, {"about": json.dumps(about)}), options=_PACKING))

    @classmethod
    def read(cls, path: Path) -> "Prepared":
        """Read the file of `write`. Raises `DataError`."""
        try:
            data = zstd.decompress(path.read_bytes(), options=_UNPACKING)
            size = int.from_bytes(data[:8], "little")  # of the head of the file of arrays
            about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["about"])
            arrays = load(data)
        except (OSError, ValueError, KeyError, zstd.ZstdError, SafetensorError) as error:
            raise DataError(f"--prepared: {path}: cannot be read ({one_line(error)}); prepare it anew") from error
        parts: dict[str, dict[str, np.ndarray]] = {}
        for name, array in arrays.items():
            part, _, field = name.rpartition("/")
            parts.setdefault(part, {})[field] = array
        dev = {name: Batch.of_arrays(parts[name]) for name in about["dev"]}
        return cls(Batch.of_arrays(parts["train"]), arrays["steps"], dev, about["run_id"], about["sizes"])
