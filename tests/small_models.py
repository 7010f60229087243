"""Small sentence-transformers models with random weights, one for each supported architecture, created offline.

Their files are those of a model on the hub: `tokenizer.json` with a vocabulary of a few hundred pieces, configuration
and safetensors from transformers, and the modules as `SentenceTransformer.save` writes them.
"""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from index.encoder.model_files import find
from index.encoder.sentence_transformer import quiet

HIDDEN = 48
SHORTENED = 32
MAX_LENGTH = 96
_POSITIONS = 160
_SEED = 20240229
# At this size, the usual 0.02 would give all texts nearly the same vector; with 0.3, MPNet in bf16 is off by 1e-3.
_WORDS, _OTHERS, _BIASES = 0.4, 0.2, 0.05

# A sample of each script, from which vocabularies are built; texts in tests may contain other characters.
CORPUS = """\
The meeting was moved to Thursday at half past nine, and nobody told the people who had already left.
Which paper won the award? The reviewers read eleven submissions and wrote three pages about each of them.
A cat sat on the mat; a dog barked at the robots, the robots at the moon, and the moon at nothing at all.
Whoever keeps notes for long enough finds that the same fact stands in three places, each a little different.
query: passage: see https://example.org/notes/index.html?page=3 or write to someone@example.com by 31 March 2024.
RETURN THE FORM TO THE OFFICE. Version 3.11 of Python, 2,048 tokens, 32 % of 1,000 papers, $5.40 a piece.
Zürich liegt am See, und die Straße über die Brücke führt nach Köln; größere Städte haben größere Bahnhöfe.
Die Prüfung fällt aus, weil der Prüfer krank ist. Äpfel, Öl und Übermut gehören nicht in denselben Koffer.
القاهرة مدينة كبيرة على نهر النيل وفيها مكتبة قديمة يقرأ فيها الناس كل يوم
東京は日本の首都です。会議は木曜日の九時半に始まります。
"""


def bert_cls_dense(folder: Path) -> None:
    """BERT with a lower-casing tokenizer, CLS pooling and a dense layer that reduces the dimension."""
    _save(folder, [_bert(folder), pooling("cls"), _dense(), _normalize()])


def bert_joined(folder: Path) -> None:
    """BERT with two concatenated poolings, not normalised; the maximum length is where older versions stored it."""
    _save(folder, [_bert(folder), pooling("mean", "max")])
    _edit(folder / "sentence_bert_config.json", max_seq_length=MAX_LENGTH)
    _edit(folder / "tokenizer_config.json", model_max_length=_POSITIONS)


def mpnet_mean(folder: Path) -> None:
    """MPNet: relative positions as well as absolute ones starting at 2, token 1 as padding, no segments."""
    tokenizer = _word_pieces(["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"], lower=True)
    tokenizer.post_processor = _roberta_ends()
    settings = _ROBERTA | {"tokenizer_class": "MPNetTokenizer", "unk_token": "[UNK]", "do_lower_case": True}
    _save(folder, [_transformer(folder, "mpnet", tokenizer, settings), pooling("mean"), _normalize()])


def roberta_mean(folder: Path) -> None:
    """RoBERTa: byte-level pieces, and positions starting at 2."""
    settings = _ROBERTA | {"tokenizer_class": "RobertaTokenizer"}
    _save(folder, [_transformer(folder, "roberta", _byte_pairs(), settings), pooling("mean"), _normalize()])


def xlm_roberta_prompts(folder: Path) -> None:
    """XLM-RoBERTa with SentencePiece's pieces and the prompts of E5."""
    settings = _ROBERTA | {"tokenizer_class": "XLMRobertaTokenizer"}
    transformer = _transformer(folder, "xlm-roberta", _sentence_pieces(), settings)
    prompts = {"query": "query: ", "document": "passage: "}
    _save(folder, [transformer, pooling("mean"), _normalize()], prompts=prompts)


def distilbert_max(folder: Path) -> None:
    """DistilBERT with max pooling and a cased tokenizer, before which texts are lower-cased."""
    settings = _BERT | {"tokenizer_class": "DistilBertTokenizer", "do_lower_case": False}
    sizes = {"dim": HIDDEN, "n_layers": 2, "n_heads": 4, "hidden_dim": 2 * HIDDEN}
    transformer = _transformer(folder, "distilbert", _bert_pieces(lower=False), settings, sizes)
    _save(folder, [transformer, pooling("max"), _normalize()])
    _edit(folder / "sentence_bert_config.json", max_seq_length=MAX_LENGTH, do_lower_case=True)


def modernbert_mean(folder: Path) -> None:
    """ModernBERT: rotary positions, no segments, and a layer in which a token attends to 64 neighbours on each side."""
    names = ["input_ids", "attention_mask"]
    settings = _BERT | {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": names}
    sizes = _SIZES | {"cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
    transformer = _transformer(folder, "modernbert", _bert_pieces(lower=True), settings, sizes)
    _save(folder, [transformer, pooling("mean"), _normalize()])


_MODELS = (
    *(bert_cls_dense, bert_joined, mpnet_mean, roberta_mean),
    *(xlm_roberta_prompts, distilbert_max, modernbert_mean),
)
BUILDERS: dict[str, Callable[[Path], None]] = {make.__name__.replace("_", "-"): make for make in _MODELS}

_SIZES = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 2 * HIDDEN}
_BERT: dict[str, Any] = {
    "tokenizer_class": "BertTokenizer",
    **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")},
}
_ENDS = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
_ROBERTA: dict[str, Any] = _ENDS | {f"{name}_token": f"<{name}>" for name in ("pad", "unk", "mask")}


def build(kind: str, folder: Path) -> Path:
    """Create a model of one of `BUILDERS` in a new folder below `folder`, and return that; the files never differ."""
    with quiet():
        BUILDERS[kind](folder / kind)
    return folder / kind


def cross_encoder(folder: Path, *, labels: int = 1) -> Path:
    """Create a BERT that scores pairs of texts, laid out like a cross-encoder on the hub; the files never differ."""
    from transformers import AutoModelForSequenceClassification

    settings, sizes = _BERT | {"do_lower_case": True}, _SIZES | {"num_labels": labels}
    with quiet():
        pieces = _bert_pieces(lower=True)
        _save_random(folder, "bert", pieces, library=AutoModelForSequenceClassification, settings=settings, sizes=sizes)
    return folder


def default_with(folder: Path, changes: Mapping[str, Mapping[str, object]]) -> Path:
    """Create a copy of the default model with changed values in some of its JSON files."""
    source = find().folder
    for file in source.rglob("*.*"):
        if file.is_file():
            target = folder / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)
    for name, values in changes.items():
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        (folder / name).unlink()
        (folder / name).write_text(json.dumps(content | values), encoding="utf-8")
    return folder


def load(folder: Path) -> Any:
    """Load a folder as a SentenceTransformer in fp32, as any user would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing the library causes warnings
        from sentence_transformers import SentenceTransformer
    with quiet():
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def pooling(*modes: str) -> Any:
    """A pooling of token vectors; several modes are concatenated."""
    return _modules().Pooling(HIDDEN, pooling_mode=modes)


def _modules() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions have moved them, older ones have them only here
        from sentence_transformers import models
    return models


def _transformer(
    folder: Path, kind: str, tokenizer: Any, settings: dict[str, Any], sizes: dict[str, int] | None = None
) -> Any:
    """The first module, from files in a folder next to the model's own."""
    from transformers import AutoModel

    source = folder.with_name(f"{folder.name}-source")
    _save_random(source, kind, tokenizer, library=AutoModel, settings=settings, sizes=sizes or _SIZES)
    return _modules().Transformer(str(source))


def _save_random(
    folder: Path, kind: str, tokenizer: Any, *, library: Any, settings: dict[str, Any], sizes: dict[str, int]
) -> None:
    """Save a tokenizer and random weights in a new folder."""
    from transformers import AutoConfig

    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = settings | {"model_max_length": MAX_LENGTH}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    config = AutoConfig.for_model(
        kind,
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=_POSITIONS,
        pad_token_id=tokenizer.token_to_id(settings["pad_token"]),
        **sizes,
    )
    model = library.from_config(config)
    _randomise(model)
    model.save_pretrained(str(folder))


def _bert(folder: Path) -> Any:
    return _transformer(folder, "bert", _bert_pieces(lower=True), _BERT | {"do_lower_case": True})


def _dense() -> Any:
    dense = _modules().Dense(HIDDEN, SHORTENED)
    _randomise(dense)
    return dense


def _normalize() -> Any:
    return _modules().Normalize()


def _randomise(module: Any) -> None:
    """Randomise all weights, even biases and norms: a missing one would go unnoticed at its usual value of 0 or 1."""
    import torch

    generator = torch.Generator().manual_seed(_SEED)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.dim() == 1:
                weight.add_(noise, alpha=_BIASES)
            else:
                words = "word_embeddings" in name or "tok_embeddings" in name
                weight.copy_(noise * (_WORDS if words else _OTHERS))


def _save(folder: Path, modules: Sequence[Any], *, prompts: dict[str, str] | None = None) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(modules=list(modules), device="cpu", prompts=prompts)
    model.save(str(folder), create_model_card=False)


def _edit(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | values), encoding="utf-8")


def _word_pieces(specials: Sequence[str], *, lower: bool) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=lower)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = Counter(word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(CORPUS)))
    pieces = [*specials, *sorted({sign for word in words for sign in word})]
    for word, count in sorted(words.items()):
        pieces += [*(f"##{sign}" for sign in word), word[:3], f"##{word[3:6]}", f"##{word[-2:]}"]
        pieces += [word] if count > 1 else []
    vocabulary = {piece: place for place, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    return tokenizer


def _bert_pieces(*, lower: bool) -> Any:
    from tokenizers.processors import TemplateProcessing

    tokenizer = _word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], lower=lower)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def _roberta_ends() -> Any:
    from tokenizers.processors import RobertaProcessing

    return RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)


def _byte_pairs() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    tokenizer.post_processor = _roberta_ends()
    return tokenizer


def _sentence_pieces() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from tokenizers.processors import TemplateProcessing

    words = [f"▁{word}" for word in CORPUS.split()]
    pieces = Counter(piece for word in words for piece in (word, word[:3], word[3:6], word[-3:], *word) if piece)
    total = pieces.total()
    # SentencePiece's own trainer is not deterministic.
    scored = [(piece, math.log(count / total)) for piece, count in sorted(pieces.items())]
    specials = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    tokenizer = Tokenizer(models.Unigram([*specials, *scored, ("<mask>", 0.0)], unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer
