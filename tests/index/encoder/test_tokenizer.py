"""Truncation, and the share of unknown tokens in texts of several languages."""

from __future__ import annotations

import pytest

from index.encoder.model_files import find
from index.encoder.tokenizer import ModelTokenizer
from qa.retrieval.query import MAX_UNKNOWN

KNOWN = {
    "acronyms": "GCG vs XQZ: LLaMA2 or GPT4?",
    "German": "Wie heißt das Flüßchen bei der größeren Brücke, und wer überquerte es?",
    "Vietnamese": "Ai đã vô địch giải bóng đá thế giới năm 1998?",
    "English, with a few words of Japanese": "What does 機械学習 mean in this paper?",
    "no letters": "1998, 2002: 42 %?",
    "nothing": "",
}
UNKNOWN = {
    "Russian": "Кто выиграл чемпионат мира по футболу в 1998 году?",
    "Hindi": "1998 में विश्व कप किसने जीता?",
    "Thai": "ใครชนะการแข่งขันฟุตบอลโลกปี 1998",
    "Korean": "1998년 월드컵에서 누가 우승했습니까?",
    "Japanese": "1998年のワールドカップで優勝したのは誰ですか？",
    "Chinese": "谁赢得了1998年世界杯足球赛的冠军奖杯?",
}


@pytest.fixture(scope="module")
def tokenizer() -> ModelTokenizer:
    """The tokenizer of the default model, made for English."""
    return ModelTokenizer(find())


def test_a_long_question_keeps_its_closing_token(tokenizer: ModelTokenizer) -> None:
    tokens = tokenizer.truncate("cat " * 999, prompt="")
    assert (len(tokens.ids), tokens.ids[0], tokens.ids[-1], len(tokens.kept)) == (256, 101, 102, 254)
    assert tokens.spans[-1].tolist() == [253 * 4, 253 * 4 + 3]


@pytest.mark.parametrize("language", KNOWN)
def test_text_in_latin_letters_is_known(tokenizer: ModelTokenizer, language: str) -> None:
    assert 0 <= tokenizer.unknown_token_ratio(KNOWN[language]) < MAX_UNKNOWN


@pytest.mark.parametrize("language", UNKNOWN)
def test_text_in_other_scripts_is_mostly_unknown(tokenizer: ModelTokenizer, language: str) -> None:
    assert MAX_UNKNOWN < tokenizer.unknown_token_ratio(UNKNOWN[language]) <= 1
