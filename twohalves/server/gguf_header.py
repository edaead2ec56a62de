"""The head of a GGUF file: its metadata and its list of tensors, without the tensors.

Read in a fraction of a second, so that /api/show never waits for the engine. Format: the
GGUF specification, version 2 and 3, little-endian.
"""

from __future__ import annotations

import io
import math
import pathlib
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from twohalves.errors import WeightsUnreadable

LFS_POINTER = b"version https://git-lfs"
"""How a file begins that stands for another, which was not fetched."""
MAGIC = b"GGUF"
"""How a GGUF file begins."""
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_TENSOR_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1",
    10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS",
    17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S",
    23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M",
    30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4",
}  # fmt: skip
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0",
    38: "MXFP4", 39: "NVFP4",
}  # fmt: skip
_MOST_ENTRIES = 100_000_000
"""A count above this is a damaged file, not a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor's line in the header."""

    name: str
    """As in the file."""
    type: str
    """How its numbers are stored, such as Q4_1."""
    shape: tuple[int, ...]
    """Fastest-varying dimension first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a GGUF file says about itself."""

    metadata: dict[str, Any]
    """Key and value as in the file."""
    tensors: tuple[Tensor, ...]
    """In the file's order."""
    data_offset: int
    """Bytes before the first tensor."""

    @property
    def architecture(self) -> str:
        """The model's family, which is also the prefix of its own keys."""
        return str(self.metadata.get("general.architecture", "unknown"))

    @property
    def quantization(self) -> str:
        """How most weights are stored."""
        return _FILE_TYPES.get(self.metadata.get("general.file_type", -1), "unknown")

    @property
    def parameter_count(self) -> int:
        """Numbers in all tensors."""
        return sum(math.prod(tensor.shape) for tensor in self.tensors)

    def own(self, key: str) -> int | None:
        """A whole number under the architecture's prefix; None if the file has none there."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) else None


def read_header(path: pathlib.Path) -> Header:
    """Read a GGUF file up to its first tensor.

    Raises:
        WeightsUnreadable: no such file, a Git LFS pointer, not GGUF, or cut off.
    """
    try:
        with path.open("rb") as file:
            return _parse(file, path)
    except OSError as error:
        raise WeightsUnreadable(str(path), "file", error.strerror or str(error)) from error
    except (struct.error, EOFError, UnicodeDecodeError, MemoryError, RecursionError) as error:
        raise WeightsUnreadable(str(path), "cut", "") from error


def _parse(file: BinaryIO, path: pathlib.Path) -> Header:
    start = file.read(len(LFS_POINTER))
    if start == LFS_POINTER:
        raise WeightsUnreadable(str(path), "lfs", "")
    if start[: len(MAGIC)] != MAGIC:
        raise WeightsUnreadable(str(path), "other", "")
    file.seek(len(MAGIC))
    version, n_tensors, n_pairs = struct.unpack("<IQQ", _take(file, 20))
    if version not in {2, 3} or max(n_tensors, n_pairs) > _MOST_ENTRIES:
        raise WeightsUnreadable(str(path), "other", "")
    metadata = {_string(file): _value(file, _u32(file)) for _ in range(n_pairs)}
    tensors = tuple(_tensor(file) for _ in range(n_tensors))
    alignment = metadata.get("general.alignment")
    alignment = alignment if isinstance(alignment, int) and alignment > 0 else 32
    here = file.tell()
    return Header(metadata=metadata, tensors=tensors, data_offset=here + -here % alignment)


def _tensor(file: BinaryIO) -> Tensor:
    name = _string(file)
    shape = tuple(_u64(file) for _ in range(_u32(file)))
    kind = _u32(file)
    _u64(file)  # where its data begins
    return Tensor(name=name, type=_TENSOR_TYPES.get(kind, f"type {kind}"), shape=shape)


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        return _array(file, _u32(file), _u64(file))
    return _scalars(file, kind, 1)[0]


def _array(file: BinaryIO, kind: int, count: int) -> list[Any]:
    if count > _MOST_ENTRIES:
        raise EOFError
    if kind in {_STRING, _ARRAY}:
        return [_value(file, kind) for _ in range(count)]
    return list(_scalars(file, kind, count))


def _scalars(file: BinaryIO, kind: int, count: int) -> tuple[Any, ...]:
    if kind not in _SCALARS:
        raise EOFError
    layout = struct.Struct(f"<{count}{_SCALARS[kind]}")
    return layout.unpack(_take(file, layout.size))


def _u32(file: BinaryIO) -> int:
    return int.from_bytes(_take(file, 4), "little")


def _u64(file: BinaryIO) -> int:
    return int.from_bytes(_take(file, 8), "little")


def _string(file: BinaryIO) -> str:
    # a vocabulary may hold a token that is half a character
    return _take(file, _u64(file)).decode("utf-8", errors="replace")


def _take(file: BinaryIO, size: int) -> bytes:
    if size > _MOST_ENTRIES * io.DEFAULT_BUFFER_SIZE:
        raise EOFError
    taken = file.read(size)
    if len(taken) < size:
        raise EOFError
    return taken
