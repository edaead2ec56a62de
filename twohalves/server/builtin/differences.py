"""Where the built-in server differs from Ollama 0.24 on purpose: the whole list.

Each recorded exchange with Ollama is sent again in the tests. Its answer either conforms, or the
sign by which it does not stands here; and a sign that no answer shows any more is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

_ENGINE_PATHS = ("POST /api/generate", "POST /api/chat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One intended difference."""

    where: tuple[str, ...]
    """Method and path, of one or several endpoints."""
    ollama: str
    """What Ollama 0.24 does."""
    here: str
    """What the built-in server does."""
    why: str
    """The reason."""
    signs: tuple[str, ...] = ()
    """How a comparison with a recorded answer shows it; none = no recording does."""
    test: str = ""
    """The test that shows it where no recording does: file and function."""


DIFFERENCES = (
    Difference(
        where=("GET /",),
        ollama="Ollama is running",
        here="Two Halves built-in server (llama.cpp) is running",
        why="it never claims to be Ollama",
        signs=("text",),
    ),
    Difference(
        where=("GET /api/version",),
        ollama="a version number",
        here='the name "twohalves-builtin", and a field `engine` with the engine\'s version',
        why="no program may take its counters for those of a version of Ollama",
        signs=("value of version", "+ engine"),
    ),
    Difference(
        where=("GET /api/tags", "GET /api/ps"),
        ollama="all models that were pulled, or that are loaded",
        here="the one model that is served",
        why="it serves one GGUF file",
        signs=("number of models",),
    ),
    Difference(
        where=("GET /api/ps",),
        ollama="a model that was unloaded is listed for up to a second more",
        here="it is listed until it is unloaded, and no longer",
        why="the list says what is in memory",
        signs=("number of models",),
    ),
    Difference(
        where=("POST /api/show",),
        ollama="template in Go's language, and stop texts, from a Modelfile",
        here="the GGUF file's own template, in Jinja, or the prompt alone; no parameters",
        why="there is no Modelfile; the model's own end tokens end an answer",
        signs=("- parameters", "value of template"),
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="nothing tells how much of a prompt came from the cache",
        here="`prompt_eval_cached_count`; `prompt_eval_count` includes it, as in Ollama",
        why="a measurement must know whether a prompt was computed",
        signs=("+ prompt_eval_cached_count",),
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="the template of the Modelfile",
        here="the GGUF file's own: SmolLM2's adds a system message where a request has none, so a "
        "templated prompt is longer, and less of it has room in the window",
        why="the file is the only source about its model",
        test="test_conversations_are_answered.py::test_the_files_own_template_is_counted",
    ),
    Difference(
        where=("POST /api/generate",),
        ollama="a refusal that a streaming request meets late has no charset in its content type",
        here="all JSON has one",
        why="one way to refuse",
        signs=("content-type application/json -> application/json; charset=utf-8",),
    ),
    Difference(
        where=("POST /api/embed",),
        ollama="embeddings",
        here="404, as for any unknown path",
        why="nothing is measured with it",
        signs=("status 200 -> 404", "status 501 -> 404"),
    ),
    Difference(
        where=("GET /v1/models", "POST /v1/chat/completions"),
        ollama="OpenAI's protocol",
        here="404, as for any unknown path",
        why="one protocol, whole",
        signs=("status 200 -> 404",),
    ),
    Difference(
        where=("DELETE /api/delete",),
        ollama="models are pulled, created, copied, pushed and deleted",
        here="404, as for any unknown path: no request changes a file",
        why="it serves one file and owns none",
        signs=("content-type application/json; charset=utf-8 -> text/plain",),
    ),
    Difference(
        where=("OPTIONS /api/generate",),
        ollama="a page may send the headers of OpenAI's client",
        here="only those that Ollama's own protocol uses",
        why="there is no /v1",
        signs=("header access-control-allow-headers",),
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="a prompt is computed to its end although its client has left",
        here="the engine stops at once",
        why="the next request does not wait for an answer that nobody reads",
        test="test_the_built_in_server_starts_and_stops_clean.py"
        "::test_a_client_that_leaves_stops_the_work",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="an answer that reaches the window's end forgets half of what came before",
        here="the same, but where the engine's window ends: a multiple of 256 above num_ctx",
        why="the engine rounds up; prompts are cut, and answers without shift end, at num_ctx",
        test="test_the_built_in_server_speaks_ollamas_protocol.py"
        "::test_a_cut_prompt_is_the_recorded_one",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="more than thirty repeats of one token end a stream without a last record",
        here="the answer goes on to its limit",
        why="an answer without counters cannot be measured",
        test="test_any_gguf_is_served.py::test_an_answer_that_repeats_itself_is_whole",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="with attention that slides, a long prompt sent again is computed again",
        here="the engine keeps states of the window beside the cache and goes on from one; what "
        "it reused is counted",
        why="that is the engine's way, and the count tells it",
        test="test_any_gguf_is_served.py::test_a_sliding_window_tells_what_it_reused",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="an entry of logprobs for every token",
        here="one entry for a character that several tokens spell: the last token's",
        why="the engine tells no more in a stream",
        test="test_every_token_tells_how_likely_it_was.py"
        "::test_a_character_of_several_tokens_has_one_entry",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="images for models that see, thinking for models that think, tools, and text "
        "inserted before a suffix",
        here="refused with 400; so is a template of the client's own",
        why="no other answer than the one asked for",
        test="test_the_built_in_server_survives_bad_input.py::test_a_field_that_cannot_be_served",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="use_mmap, num_gpu and main_gpu decide how a model is loaded",
        here="their types are checked, and nothing else",
        why="the engine decides that for itself",
        test="test_every_option_has_its_effect.py::test_what_concerns_a_gpu_changes_nothing",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="the first free slot takes a request: prompts in turn find no prefix, however many "
        "slots there are",
        here="the free slot whose prompt begins most alike takes it, else the one unused longest",
        why="that is the engine's way, and the count of cached tokens tells it",
        test="test_a_private_server_is_laid_out_as_asked.py"
        "::test_two_slots_or_host_memory_remember_both",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="OLLAMA_MAX_QUEUE limits those who wait for a model; for a slot anyone may wait",
        here="it limits all who wait",
        why="one queue, in order of arrival",
        test="test_many_clients_wait_their_turn.py::test_a_full_queue_refuses_the_next",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="a KV cache of fewer bits without flash attention becomes f16, and nothing tells",
        here="the server does not start",
        why="the reader would measure something else than what was asked for",
        test="test_the_built_in_server_reads_ollamas_variables.py"
        "::test_a_block_type_without_flash_attention_is_refused",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="a variable that means nothing is as good as none",
        here="the server does not start, and names it",
        why="the reader would measure something else than what was asked for",
        test="test_the_built_in_server_reads_ollamas_variables.py"
        "::test_what_means_nothing_is_refused_by_name",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="OLLAMA_HOST and OLLAMA_ORIGINS open it to other machines and pages",
        here="they are not read: other machines cannot reach it, and other pages are refused",
        why="nobody else has anything to measure here",
        test="test_the_built_in_server_starts_and_stops_clean.py"
        "::test_ollama_host_never_opens_it_wide",
    ),
    Difference(
        where=("GET /api/tags", *_ENGINE_PATHS),
        ollama="the machine's own name, .local names and pages of desktop programs (app://, "
        "file://) are served",
        here="403, as for any foreign name or page",
        why="localhost and the loopback addresses are enough",
        test="test_the_built_in_server_survives_bad_input.py::test_a_foreign_name_is_refused",
    ),
    Difference(
        where=_ENGINE_PATHS,
        ollama="a body may come in chunks, and be of any length",
        here="411 without a Content-Length, 413 above 32 MiB",
        why="memory is bounded before anything is read",
        test="test_the_built_in_server_survives_bad_input.py"
        "::test_a_length_that_cannot_be_believed",
    ),
)
"""Every intended difference from Ollama 0.24."""


def as_markdown() -> str:
    """The list as a Markdown table."""
    lines = ["| where | Ollama 0.24 | built-in server | why |", "|---|---|---|---|"]
    for each in DIFFERENCES:
        where = ", ".join(f"`{endpoint}`" for endpoint in each.where)
        lines.append(f"| {where} | {each.ollama} | {each.here} | {each.why} |")
    return "\n".join(lines) + "\n"
