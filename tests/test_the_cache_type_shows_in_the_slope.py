"""No API tells how a cache is kept; the size over the window does, once the reader agrees."""

import json
import pathlib

import pytest

from tests.servers.scripted import Answer, Scripted, ollama_routes
from twohalves.errors import KvShapeUnknown, ReloadNotAgreed
from twohalves.formulas import bytes_a_token, kv_shape, types_by_slope, uniform_shape
from twohalves.server import cache_type, facts, find
from twohalves.server.cache_type import probed

WIRE = pathlib.Path(__file__).parent / "wire"
SMOLLM2 = uniform_shape(30, 3, 64)
FOREVER = "2318-03-11T05:06:07.715619305Z"
RECORDED = {
    # `size` in /api/ps of Ollama 0.24, by window
    "smollm2": {512: 108_373_248, 2048: 143_762_688, 4096: 190_948_608, 8192: 285_320_448},
    "gemma3": {4096: 477_798_912, 8192: 494_576_128, 32_768: 595_239_424},
}


def metadata(name):
    return json.loads((WIRE / f"show_{name}_verbose.trimmed.json").read_text(encoding="utf-8"))


class Loading:
    """An Ollama whose size follows the window that it was last asked for."""

    def __init__(self, name, size, *, loaded=None, most=10**9, expires=FOREVER):
        self.name, self.size, self.window, self.most = name, size, loaded, most
        self.expires, self.loads = expires, []

    def routes(self, shown):
        model = {"name": self.name, "size": 98_363_007, "show": shown}
        return {
            **ollama_routes(model), "/api/generate": self.generate, "/api/ps": self.ps,
        }  # fmt: skip

    def generate(self, asked):
        self.loads.append({k: v for k, v in asked.json.items() if k not in {"model", "stream"}})
        if asked.json.get("keep_alive") == 0:
            self.window = None
        else:
            self.window = min(asked.json.get("options", {}).get("num_ctx", 4096), self.most)
        return Answer(body={"model": self.name, "response": "", "done": True})

    def ps(self, _):
        entry = {"name": self.name, "context_length": self.window, "expires_at": self.expires}
        listed = [] if self.window is None else [entry | {"size": self.size(self.window)}]
        return Answer(body={"models": listed})


def asked(loading, shown, *, agreed=True):
    with Scripted(loading.routes(shown)) as server:
        found = find(environ={"TWOHALVES_SERVER": server.url})
        return cache_type(found, facts(found, loading.name), agreed=agreed)


@pytest.mark.parametrize(
    ("name", "slope", "types"),
    [
        # 30 layers x 3 heads x 128 numbers x 2 bytes
        ("smollm2", 23_040, ("f16", "bf16")),
        # 3 of 18 layers x 512 numbers x 2 bytes = 3,072, and 1,024 for a mask
        ("gemma3", 4_096, ("f16", "bf16")),
    ],
)
def test_recorded_sizes_tell_the_type(name, slope, types):
    """Two models of a real Ollama, f16 as it is by default."""
    shape = kv_shape(metadata(name)["model_info"])

    assert bytes_a_token(sorted(RECORDED[name].items())) == slope
    assert types_by_slope(shape, slope) == types


@pytest.mark.parametrize(
    ("name", "slope"),
    [
        ("smollm2", 11_520),  # Ollama's estimate: one byte a number, without the scales
        ("smollm2", 12_240),  # what it takes: 34 bytes for 32 numbers
        ("gemma3", 2_656),  # 3,072 x 34/64 = 1,632, and 1,024
    ],
)
def test_the_recorded_eight_bit_cache_is_known(name, slope):
    """OLLAMA_KV_CACHE_TYPE=q8_0 shows nowhere else."""
    assert types_by_slope(kv_shape(metadata(name)["model_info"]), slope) == ("q8_0",)


@pytest.mark.parametrize(
    ("sizes", "slope"),
    [
        ([(2048, 5), (4096, 5)], None),  # it tells the file's size and nothing else
        ([(2048, 9), (4096, 5)], None),
        ([(2048, 5)], None),
        ([], None),
        ([(2048, 0), (3072, 1024), (4096, 3072)], None),  # no line
        ([(2048, 0), (3072, 1024), (4096, 2049)], 2049 / 2048),  # a hair off: a line
    ],
)
def test_a_slope_is_one_or_none(sizes, slope):
    """What does not rise steadily tells nothing."""
    assert bytes_a_token(sizes) == slope


def test_a_slope_of_no_type_is_no_type():
    """Between two types, above all, below all."""
    for slope in (16_000, 100_000, 100):
        assert types_by_slope(SMOLLM2, slope) == ()


def test_the_server_is_asked_and_put_back():
    """Three windows, then the one that was loaded before, for as long as it was to stay."""
    ollama = Loading("smollm2:135m", lambda window: 96_576_768 + 23_040 * window, loaded=1024)
    told = asked(ollama, metadata("smollm2"))

    assert told.sizes == ((2048, 143_762_688), (3072, 167_355_648), (4096, 190_948_608))
    assert (told.slope, told.types) == (23_040, ("f16", "bf16"))
    windows = [load["options"]["num_ctx"] for load in ollama.loads]
    assert windows == [2048, 3072, 4096, 1024]
    assert ollama.loads[-1]["keep_alive"] == -1


def test_what_was_not_loaded_is_unloaded_again():
    """Nothing is left in memory that was not there."""
    ollama = Loading("smollm2:135m", lambda window: 96_576_768 + 11_520 * window)
    told = asked(ollama, metadata("smollm2"))

    assert told.types == ("q8_0",)
    assert ollama.loads[-1] == {"keep_alive": 0}
    assert ollama.window is None


def test_several_slots_could_look_the_same():
    """Two slots of one byte a number are one slot of two; that is said, not decided."""
    ollama = Loading("smollm2:135m", lambda window: 96_576_768 + 23_040 * window)
    told = asked(ollama, metadata("smollm2"))

    assert (2, "q8_0") in told.with_slots
    assert (4, "q4_0") in told.with_slots


def test_nothing_is_loaded_without_the_readers_word():
    """The windows are named, and how to agree."""
    ollama = Loading("smollm2:135m", lambda _: 1)
    with pytest.raises(ReloadNotAgreed, match="2048, 3072, 4096 tokens") as refused:
        asked(ollama, metadata("smollm2"), agreed=False)

    assert "agreed=True" in refused.value.next_step
    assert ollama.loads == []


def test_a_size_that_never_changes_tells_nothing():
    """Some versions tell the file's size only."""
    told = asked(Loading("smollm2:135m", lambda _: 98_363_007), metadata("smollm2"))

    assert (told.slope, told.types, told.with_slots) == (None, (), ())


def test_a_window_that_was_cut_is_taken_as_it_is():
    """The server clamps to what the model was trained for, and says so in /api/ps."""
    size = 96_576_768
    ollama = Loading("smollm2:135m", lambda window: size + 23_040 * window, most=3072)
    told = asked(ollama, metadata("smollm2"))

    assert [window for window, _ in told.sizes] == [2048, 3072]
    assert told.types == ("f16", "bf16")


def test_a_broken_probe_still_puts_the_model_back():
    """The error is the one that happened; the model is loaded as before."""
    ollama = Loading("smollm2:135m", lambda window: window, loaded=1024)
    shown = metadata("smollm2")
    with Scripted(ollama.routes(shown)) as server:
        found = find(environ={"TWOHALVES_SERVER": server.url})
        model = facts(found, "smollm2:135m")
        real = ollama.generate

        def breaks(request):
            if request.json.get("options", {}).get("num_ctx") == 3072:
                return Answer(status=500, body={"error": "out of memory"})
            return real(request)

        server.routes["/api/generate"] = breaks
        with pytest.raises(Exception, match="out of memory"):
            cache_type(found, model, agreed=True)

    assert ollama.window == 1024


def test_a_model_whose_metadata_do_not_say_is_refused():
    """The keys are named, and nothing is loaded."""
    ollama = Loading("smollm2:135m", lambda _: 1)
    shown = {"model_info": {"general.architecture": "llama"}}
    with pytest.raises(KvShapeUnknown, match=r"llama\.block_count"):
        asked(ollama, shown)

    assert ollama.loads == []


@pytest.mark.parametrize(
    ("shape", "trained", "windows"),
    [
        (SMOLLM2, 8192, (2048, 3072, 4096)),
        (SMOLLM2, None, (2048, 3072, 4096)),
        (SMOLLM2, 2048, (512, 1024, 2048)),
        (SMOLLM2, 100, (1, 2, 4)),
    ],
)
def test_the_windows_are_small(shape, trained, windows):
    """None larger than Ollama's own default, none beyond the trained one."""
    assert probed(shape, trained) == windows


def test_windows_of_layers_are_passed():
    """gemma3 sees 512 tokens in most layers; beyond 1,536 only the others grow."""
    shape = kv_shape(metadata("gemma3")["model_info"])

    assert probed(shape, 32_768) == (4096, 6144, 8192)
