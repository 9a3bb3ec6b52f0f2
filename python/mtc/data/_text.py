"""Token ids of texts by a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc.data._packages import require
from mtc.errors import DataError

PADDING = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")


@dataclass(frozen=True)
class Encoded:
    """Token ids of rows.

    Attributes:
        ids: Ids of all rows, one after the other.
        kinds: Type ids: 1 for the second text of a pair.
        lengths: Number of ids of each row.
        whole_lengths: The numbers without truncation.
    """

    ids: NDArray[np.int32]
    kinds: NDArray[np.int32]
    lengths: NDArray[np.int64]
    whole_lengths: NDArray[np.int64]


class Tokenizer:
    """A tokenizer of the package ``tokenizers``.

    Attributes:
        vocabulary: Number of ids.
        padding: The id of padding: that of the file, else of a token such as ``[PAD]``, else 0.
        end: Ids of the end token of streams; empty if there is none.
    """

    def __init__(self, path: Path, length: int | None, end_token: str | None) -> None:
        tokenizers = require("tokenizers", f"{path}: a tokenizer")
        if not path.is_file():
            raise DataError(f"--tokenizer {path}: no such file; expected a tokenizer.json")
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # The package raises Exception itself.
            raise DataError(f"--tokenizer {path}: is no tokenizer.json: {error}") from None
        padding = self._tokenizer.padding
        ids = [self._tokenizer.token_to_id(token) for token in PADDING]
        self.padding = int(padding["pad_id"]) if padding else next((each for each in ids if each is not None), 0)
        self._tokenizer.no_padding()
        if length is None:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(length)
        self.vocabulary = int(self._tokenizer.get_vocab_size(with_added_tokens=True))
        self.end: list[int] = []
        if end_token is not None:
            end = self._tokenizer.token_to_id(end_token)
            if end is None:
                raise DataError(f"--end-token {end_token}: is no token of {path}")
            self.end = [end]

    def rows(self, texts: Sequence[str], pairs: Sequence[str] | None) -> Encoded:
        """Tokenizes texts, or pairs of texts, with special tokens."""
        inputs = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
        encodings = self._tokenizer.encode_batch(inputs)
        lengths = np.array([len(each.ids) for each in encodings], np.int64)
        ids = np.fromiter((i for each in encodings for i in each.ids), np.int32, int(lengths.sum()))
        kinds = np.fromiter((i for each in encodings for i in each.type_ids), np.int32, int(lengths.sum()))
        cut = [sum(part.special_tokens_mask.count(0) for part in each.overflowing) for each in encodings]
        return Encoded(ids, kinds, lengths, lengths + np.array(cut, np.int64))

    def stream(self, texts: Sequence[str], ends: Sequence[bool]) -> NDArray[np.int64]:
        """Returns the ids of texts without special tokens, each followed by the end token where `ends` is set."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        parts = [[*each.ids, *(self.end if is_end else [])] for each, is_end in zip(encodings, ends, strict=True)]
        return np.fromiter((i for part in parts for i in part), np.int64, sum(map(len, parts)))
