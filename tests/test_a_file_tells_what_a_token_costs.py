"""`lab.shape`: a model that is not installed here is sized from its config.json or GGUF file."""

import json
import struct

import pytest

from twohalves import lab
from twohalves.errors import KvShapeUnknown, ShapeFileUnusable
from twohalves.formulas import bytes_per_token

LLAMA_8B = {
    "model_type": "llama", "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "hidden_size": 4096,
}  # fmt: skip
KEYS = {
    "general.architecture": "lfm2",
    "lfm2.block_count": 3,
    "lfm2.attention.head_count": 4,
    "lfm2.attention.head_count_kv": [0, 8, 0],
    "lfm2.embedding_length": 256,
    "lfm2.shortconv.l_cache": 3,
}


def text(words):
    return struct.pack("<Q", len(words)) + words.encode()


def gguf(keys):
    """The head of a GGUF file, version 3, without tensors."""
    pairs = b""
    for key, value in keys.items():
        pairs += text(key)
        if isinstance(value, str):
            pairs += struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            pairs += struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
        else:
            pairs += struct.pack("<II", 4, value)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + pairs


@pytest.mark.parametrize("name", ["config.json", "größer 1.json", "model.gguf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_config_is_known_by_its_content(tmp_path, name, mark):
    """Under any name, and with the mark that some editors put first: 32 x 8 x 256 x 2 bytes."""
    path = tmp_path / name
    path.write_text(mark + json.dumps(LLAMA_8B), encoding="utf-8")

    assert bytes_per_token(lab.shape(path)).growing == 131_072
    assert bytes_per_token(lab.shape(str(path)), "q8_0").growing == 69_632


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_config_saved_by_a_windows_shell_is_read(tmp_path, encoding):
    """Its `>` writes two bytes a letter."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA_8B), encoding=encoding)

    assert bytes_per_token(lab.shape(path)).growing == 131_072


def test_a_gguf_file_is_known_by_its_content(tmp_path):
    """One of three layers attends: 8 heads of 256 / 4, keys and values, 2 bytes each."""
    path = tmp_path / "config.json"
    path.write_bytes(gguf(KEYS))
    shape = lab.shape(path)

    assert bytes_per_token(shape).growing == 8 * 128 * 2
    assert shape.state_bytes == 2 * 4 * 2 * 256


def test_a_folder_stands_for_the_config_in_it(tmp_path):
    """As a model's folder is downloaded."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_8B), encoding="utf-8")

    assert len(lab.shape(tmp_path).layers) == 32


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "as JSON"),
        (b"\x00\xff\x00", "no GGUF file"),
        (b"[1, 2]", "no table"),
        (b'{"model_type": "llama"', "as JSON"),
        (b"[" * 100_000, "as JSON"),
        (b" " * (9 * 1024**2), "too large"),
        (gguf(KEYS)[:-9], "damaged or cut off"),
        (b"GGUF" + struct.pack("<IQQ", 99, 0, 0), "version 2 or 3"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS pointer"),
    ],
)
def test_a_file_that_is_neither_is_refused(tmp_path, content, words):
    """With the reason, and what to give instead."""
    path = tmp_path / "config.json"
    path.write_bytes(content)

    with pytest.raises(ShapeFileUnusable, match=words) as refused:
        lab.shape(path)
    assert "lab.shape(" in refused.value.next_step
    assert "config.json" in refused.value.what


def test_a_file_that_is_not_there_is_refused(tmp_path):
    """Also a folder without a config.json."""
    with pytest.raises(ShapeFileUnusable, match="No such file"):
        lab.shape(tmp_path)


@pytest.mark.parametrize(
    "content", [b"{}", json.dumps(LLAMA_8B | {"model_type": "newer"}).encode(), gguf({})]
)
def test_a_file_that_does_not_say_enough_is_refused(tmp_path, content):
    """The missing keys are named."""
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(KvShapeUnknown, match=r"model_type|general\.architecture"):
        lab.shape(path)
