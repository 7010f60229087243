"""The reader: six layers that read question and passage together, and its heads.

Its embedding tables are the encoder's and are not trained, so that the product needs them only once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from .batches import Batch, base_folder

# Width of the hidden layer that answered and relevant are computed from.
_JUDGE = 192
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class Output:
    """The reader's output for `n` examples of `t` tokens.

    Attributes:
        start: `(n, t)` logits of the answer's first token; position 0 means no answer.
        end: `(n, t)` logits of its last token.
        answered: `(n,)` logits: the passage answers the question.
        relevant: `(n,)` logits: this is the passage to read.
    """

    start: torch.Tensor
    end: torch.Tensor
    answered: torch.Tensor
    relevant: torch.Tensor


class Attention(torch.autograd.Function):  # type: ignore[misc]
    """Attention of `(n * heads, t, d)` queries, keys and values by matrix products alone.

    On a CPU, the gradients of PyTorch's own take as long as the rest of a training step.
    """

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        """The attended values; `bias` `(n * heads, t, t)` is added to the products of queries and keys."""
        scale = query.shape[-1] ** -0.5
        shares = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=scale).softmax(dim=-1)
        ctx.save_for_backward(query * scale, key * scale, value, shares)
        return torch.bmm(shares, value)

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # type: ignore[no-untyped-def]
        """Gradients of queries, keys and values."""
        query, key, value, shares = ctx.saved_tensors
        of_shares = torch.bmm(grad, value.transpose(1, 2))
        of_scores = torch._softmax_backward_data(of_shares, shares, -1, shares.dtype)
        of_value = torch.bmm(shares.transpose(1, 2), grad)
        return torch.bmm(of_scores, key), torch.bmm(of_scores.transpose(1, 2), query), of_value, None


class Reader(nn.Module):  # type: ignore[misc]
    """BERT layers with three heads.

    Attributes:
        dtype: Type of what the layers compute; weights and heads stay in float32.
        dropout: While training, share of the features dropped from the output of each layer's blocks, the same for
            all tokens of an example: dropping each token's own halves the speed on a CPU.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dtype = torch.float32
        self.dropout = 0.0
        self.bert = BertModel(config, add_pooling_layer=False)
        for parameter in self.bert.embeddings.parameters():
            parameter.requires_grad_(False)
        self.span = nn.Linear(config.hidden_size, 2)
        self.judge = nn.Sequential(nn.Linear(3 * config.hidden_size, _JUDGE), nn.GELU(), nn.Linear(_JUDGE, 2))

    def forward(
        self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor, allowed: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits `(n, t)` of start and end, and `(n, 2)` of answered and relevant.

        The latter two are computed from [CLS] and from the states where an answer would begin and end.
        """
        states = self.bert.embeddings(input_ids=ids, token_type_ids=types).to(self.dtype)
        heads = self.bert.config.num_attention_heads
        bias = torch.zeros_like(mask, dtype=self.dtype).masked_fill(mask == 0, _NEVER)
        bias = bias.repeat_interleave(heads, 0)[:, None].expand(-1, mask.shape[1], -1)
        for layer in self.bert.encoder.layer:
            states = self._layer(layer, states, bias, heads)
        states = states.float()
        logits = self.span(states).float().masked_fill(~allowed[..., None], _NEVER)
        inside = logits.clone()
        inside[:, 0] = _NEVER
        weights = inside.softmax(dim=1).to(states.dtype)
        ends = torch.einsum("ntk,nth->nkh", weights, states).flatten(1)
        judged = self.judge(torch.cat([states[:, 0], ends], dim=1)).float()
        return logits[..., 0], logits[..., 1], judged

    def _layer(self, layer: nn.Module, states: torch.Tensor, bias: torch.Tensor, heads: int) -> torch.Tensor:
        """The `(n, t, width)` output of one layer."""
        n, t, width = states.shape
        attention = layer.attention.self
        parts = [_linear(part, states) for part in (attention.query, attention.key, attention.value)]
        query, key, value = (part.view(n, t, heads, -1).transpose(1, 2).reshape(n * heads, t, -1) for part in parts)
        attended = Attention.apply(query, key, value, bias).view(n, heads, t, -1).transpose(1, 2).reshape(n, t, width)
        states = self._add(layer.attention.output, attended, states)
        return self._add(layer.output, functional.gelu(_linear(layer.intermediate.dense, states)), states)

    def _add(self, block: nn.Module, inner: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """The output of a block: its last product, with dropout, added to its input and normalised."""
        product = _linear(block.dense, inner)
        if self.training and self.dropout:
            kept = torch.rand(len(states), 1, states.shape[2], device=states.device) >= self.dropout
            product = product * (kept / (1 - self.dropout)).to(product.dtype)
        norm = block.LayerNorm
        weight, bias = norm.weight.to(states.dtype), norm.bias.to(states.dtype)
        return functional.layer_norm(product + states, norm.normalized_shape, weight, bias, norm.eps)

    def read(self, batch: Batch) -> Output:
        """The output for a batch."""
        start, end, judged = self(batch.ids, batch.types, batch.mask, batch.allowed)
        return Output(start, end, judged[:, 0], judged[:, 1])

    def trained(self) -> dict[str, torch.Tensor]:
        """All weights except the embedding tables."""
        return {name: value for name, value in self.state_dict().items() if not name.startswith("bert.embeddings.")}


def _linear(layer: nn.Module, states: torch.Tensor) -> torch.Tensor:
    """A layer's product in the type of `states`."""
    return functional.linear(states, layer.weight.to(states.dtype), layer.bias.to(states.dtype))


def base_hash() -> str:
    """SHA-256 of the base model's weights, which training starts from and whose embedding tables the reader uses."""
    return hashlib.sha256((base_folder() / "model.safetensors").read_bytes()).hexdigest()


def new_reader() -> Reader:
    """A reader with the encoder's weights and fresh heads."""
    torch.manual_seed(0)
    config = BertConfig.from_pretrained(base_folder(), hidden_dropout_prob=0.0)
    reader = Reader(config)
    weights = load_file(base_folder() / "model.safetensors")
    weights = {name: value for name, value in weights.items() if not name.startswith("pooler.")}
    missing = reader.bert.load_state_dict(weights, strict=False)
    missing_names = [name for name in missing.missing_keys if "position_ids" not in name]
    if missing_names or any("position_ids" not in name for name in missing.unexpected_keys):
        raise SystemExit(f"the weights of the base model are not those expected: {missing}")
    return reader


def best_spans(
    start: torch.Tensor, end: torch.Tensor, *, longest: int, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row's best spans of up to `longest` tokens, best first: `(n, count, 2)`, and their logits, `(n, count)`.

    The logits are minus that of no answer.
    """
    scores = start[:, :, None] + end[:, None, :]
    length = scores.shape[1]
    position = torch.arange(length, device=start.device)
    distance = position[None, :] - position[:, None]
    inside = (distance >= 0) & (distance < longest) & (position[:, None] > 0)
    flat = scores.masked_fill(~inside, 4 * _NEVER).flatten(1)
    score, at = flat.topk(count, dim=1)
    return torch.stack([at // length, at % length], dim=2), score - (start[:, :1] + end[:, :1])


def load_reader(file: Path) -> Reader:
    """A reader from a checkpoint (`.pt`) or from exported weights (`.safetensors`)."""
    reader = new_reader()
    if file.suffix == ".safetensors":
        # Shipped names lack the module in which transformers wraps the layers, and the file also has checks.
        loaded = {
            name.replace("layers.", "bert.encoder.layer."): value
            for name, value in load_file(file).items()
            if not name.startswith("check.")
        }
    else:
        loaded = torch.load(file, map_location="cpu", weights_only=True)["reader"]
    expected = set(reader.trained())
    if expected != set(loaded):
        raise SystemExit(f"{file} does not hold a reader's weights: {sorted(expected ^ set(loaded))[:5]}")
    reader.load_state_dict({name: value.float() for name, value in loaded.items()}, strict=False)
    reader.eval()
    return reader
