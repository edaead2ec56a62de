"""Tiny models with random weights: real GGUF files that load in milliseconds.

What they say means nothing; that they say it the same way each time is enough. Every character
of the texts is a token of its own. Greedy answers are printable ASCII, because the rows of all
other tokens in the embedding, which is also the output, are zero.
"""

import gguf
import numpy as np

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'critic' %}"
    "{{ raise_exception('no critics here') }}{% endif %}"
    "<start_of_turn>{{ message['role'] }}\n{{ message['content'] }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
_WIDTH, _HEAD, _HEADS, _HIDDEN = 32, 16, 2, 64
_CONTROL, _NORMAL, _BYTE = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL, gguf.TokenType.BYTE
_PRINTABLE = [chr(code) for code in range(0x21, 0x7F)]


def llama(path, *, template=CHATML, context_length=4096, name=("tiny", "1K")):
    """A llama with two layers that all see everything; no special token begins a text."""
    vocabulary = {
        **dict.fromkeys(("<|endoftext|>", "<|im_start|>", "<|im_end|>"), _CONTROL),
        **dict.fromkeys(_byte_alphabet(), _NORMAL),
        "th": _NORMAL,
    }
    writer = _writer(path, "llama", name, template, context_length)
    _vocabulary(writer, "gpt2", "gpt-2", vocabulary)
    writer.add_token_merges(["t h"])
    _special(writer, bos=1, eos=2, pad=0, unk=0)
    writer.add_bool("tokenizer.ggml.add_bos_token", val=False)
    writer.add_rope_dimension_count(_HEAD)
    writer.add_vocab_size(len(vocabulary))
    return _write(writer, path, list(vocabulary), layers=2)


def gemma3(path, *, template=None, context_length=32768, window=64, name=("gemma3", "270M")):
    """A gemma3 with six layers, five of which see only the last `window` tokens."""
    special = ("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>")
    vocabulary = {
        **dict.fromkeys(special, _CONTROL),
        **dict.fromkeys((f"<0x{byte:02X}>" for byte in range(256)), _BYTE),
        **dict.fromkeys(("\u2581", *_PRINTABLE), _NORMAL),  # the first stands for a space
    }
    writer = _writer(path, "gemma3", name, template, context_length)
    _vocabulary(writer, "llama", "default", vocabulary)
    writer.add_token_scores([0.0] * len(vocabulary))
    _special(writer, bos=2, eos=1, pad=0, unk=3)
    writer.add_bool("tokenizer.ggml.add_bos_token", val=True)
    writer.add_tags(["tiny"])
    writer.add_key_length(_HEAD)
    writer.add_value_length(_HEAD)
    writer.add_sliding_window(window)
    extra = ("attn_q_norm", "attn_k_norm", "post_attention_norm", "post_ffw_norm")
    return _write(writer, path, list(vocabulary), layers=6, extra=extra)


def _writer(path, architecture, name, template, context_length):
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_type("model")
    writer.add_basename(name[0])
    writer.add_size_label(name[1])
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_quantization_version(2)
    writer.add_context_length(context_length)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_HIDDEN)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    if template is not None:
        writer.add_chat_template(template)
    return writer


def _vocabulary(writer, kind, splitter, vocabulary):
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre(splitter)
    writer.add_token_list(list(vocabulary))
    writer.add_token_types(list(vocabulary.values()))


def _special(writer, *, bos, eos, pad, unk):
    writer.add_bos_token_id(bos)
    writer.add_eos_token_id(eos)
    writer.add_pad_token_id(pad)
    writer.add_unk_token_id(unk)
    writer.add_bool("tokenizer.ggml.add_eos_token", val=False)
    writer.add_bool("tokenizer.ggml.add_sep_token", val=False)
    writer.add_bool("tokenizer.ggml.add_space_prefix", val=False)


def _byte_alphabet():
    """The printable stand-in of each byte in byte-level vocabularies, byte 0 first."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in shown]
    return [chr(byte if byte in shown else 256 + hidden.index(byte)) for byte in range(256)]


def _write(writer, path, vocabulary, *, layers, extra=()):
    random = np.random.default_rng(31)
    writer.add_block_count(layers)
    embedding = np.zeros((len(vocabulary), _WIDTH), np.float32)
    for token in _PRINTABLE:
        embedding[vocabulary.index(token)] = random.normal(0, 1, _WIDTH)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", np.ones(_WIDTH, np.float32))
    shapes = {
        "attn_q": (_HEADS * _HEAD, _WIDTH), "attn_k": (_HEAD, _WIDTH), "attn_v": (_HEAD, _WIDTH),
        "attn_output": (_WIDTH, _HEADS * _HEAD), "ffn_gate": (_HIDDEN, _WIDTH),
        "ffn_up": (_HIDDEN, _WIDTH), "ffn_down": (_WIDTH, _HIDDEN),
    }  # fmt: skip
    for layer in range(layers):
        for name, shape in shapes.items():
            weights = random.normal(0, 0.3, shape).astype(np.float32)
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights)
        for name in ("attn_norm", "ffn_norm", *extra):
            width = _HEAD if name in {"attn_q_norm", "attn_k_norm"} else _WIDTH
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
