"""Tests of the tensors of save_pretrained that mtc.export records, against the conversion of transformers on random weights."""

import warnings

import torch
import transformers
from harness import test
from torch import nn
from transformers.core_model_loading import revert_weight_conversion

import mtc
from mtc import _module, _pretrained, facts

DECODER = {"vocab_size": 32, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
           "num_key_value_heads": 2, "head_dim": 8, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
VIT = {"image_size": 16, "patch_size": 8, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
# By model type: the class, values of the configuration, and whether save_pretrained has other tensors than the module.
MODELS = {
    "vit": (transformers.AutoModelForImageClassification, VIT, True),
    "mixtral": (transformers.AutoModelForCausalLM, DECODER | {"num_local_experts": 3}, True),
    "qwen3_moe": (transformers.AutoModelForCausalLM, DECODER | {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 8,
                                                                "tie_word_embeddings": True}, True),
    "jamba": (transformers.AutoModelForCausalLM, DECODER | {"num_experts": 3}, True),
    "phimoe": (transformers.AutoModelForCausalLM, DECODER | {"num_local_experts": 3}, True),
    "llama": (transformers.AutoModelForCausalLM, DECODER | {"tie_word_embeddings": True}, False),
}  # fmt: skip


def converted(module: nn.Module, recorded: dict[str, tuple[facts.PretrainedTensor, ...]], names: dict[str, list[str]]) -> dict[str, torch.Tensor]:
    """Builds the tensors of save_pretrained from those of the module, with the recorded parts."""
    state, made = module.state_dict(), {}
    for name, aliases in names.items():
        if name not in recorded:
            made |= {alias: state[alias].flatten() for alias in aliases if alias in state}
            continue
        values = state[name].flatten()
        for tensor in recorded[name]:
            image = made.setdefault(tensor.name, torch.full((torch.Size(tensor.shape).numel(),), torch.nan))
            parts = tensor.parts or [facts.Part(0, 0, (len(values),), (1,), (1,))]
            for part in parts:
                image.as_strided(part.extents, part.image_strides, part.image).copy_(
                    values.as_strided(part.extents, part.variable_strides, part.variable)
                )
    return made


@test
def tensors_of_save_pretrained_are_recorded():
    for kind, (auto, values, differs) in MODELS.items():
        torch.manual_seed(0)
        module = auto.from_config(transformers.AutoConfig.for_model(kind, **values))
        names = _module.all_names(module)
        recorded = _pretrained.tensors(module, names)
        assert bool(recorded) == differs, kind
        made, expected = converted(module, recorded, names), revert_weight_conversion(module, dict(module.state_dict()))
        assert made.keys() == expected.keys(), (kind, made.keys() ^ expected.keys())
        assert all(torch.equal(value, expected[name].flatten()) for name, value in made.items()), kind
        # A module that contains the model has its names with a prefix.
        outer = nn.ModuleDict({"inner": module, "head": nn.Linear(2, 2)})
        prefixed = _pretrained.tensors(outer, _module.all_names(outer))
        assert {name.removeprefix("inner.") for name in prefixed} == recorded.keys(), kind
        assert all(tensor.name.startswith("inner.") for group in prefixed.values() for tensor in group), kind


@test
def conversions_are_strided_parts():
    def of(convert) -> dict[str, tuple[facts.PretrainedTensor, ...]]:
        """Records a conversion of two parameters, and checks that the record reproduces it."""
        module = nn.ParameterDict({"a": nn.Parameter(torch.randn(6, 4)), "b": nn.Parameter(torch.randn(2, 3, 4))})
        recorder = _pretrained._Recorder()
        state = {name: recorder.parameter(name, tensor) for name, tensor in module.state_dict().items()}
        with recorder:
            stored = convert(**state)
        expected = convert(**module.state_dict())
        for name, tensor in stored.items():
            made = torch.full((expected[name].numel(),), torch.nan)
            for piece in recorder.of(tensor):
                part = _pretrained._part(piece)
                source = module[piece.owner].detach().flatten()
                made.as_strided(part.extents, part.image_strides, part.image).copy_(
                    source.as_strided(part.extents, part.variable_strides, part.variable)
                )
            assert torch.equal(made, expected[name].flatten()), name

    of(lambda a, b: {"t": a.T, "r": a.T.reshape(2, 12), "u": b.permute(2, 0, 1)})
    of(lambda a, b: {"c": torch.cat([a, b.reshape(6, 4)], 1), "s": torch.stack([b[0], b[1]]).transpose(0, 2)})
    of(lambda a, b: {f"b{i}": each.T.contiguous() for i, each in enumerate(b)} | {"a0": a[:2], "a1": a[2:, 1:3]})
    of(lambda a, b: {"rope": a.view(2, 3, 4).transpose(0, 1).reshape(6, 4), "half": torch.cat([a[::2], a[1::2]])})
    of(lambda a, b: {"nested": torch.cat([torch.cat([a.T, a.T]), b.permute(2, 0, 1).reshape(4, 6)])[2:10], "chunk": torch.stack([b, b], 1).chunk(2, 2)[0]})
    of(lambda a, b: {"narrow": torch.cat([b, b], 1)[:, 1:4], "flat": torch.stack([a, a]).flatten()})


@test
def conversions_that_change_values_are_warned_of():
    class Model(transformers.PreTrainedModel):
        config_class = transformers.PreTrainedConfig

        def __init__(self):
            super().__init__(transformers.PreTrainedConfig())
            self.a = nn.Linear(2, 2)

    original = transformers.core_model_loading.revert_weight_conversion
    transformers.core_model_loading.revert_weight_conversion = lambda model, state: state | {"a.weight": state["a.weight"] + 1}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = Model()
            assert _pretrained.tensors(model, _module.all_names(model)) == {}
    finally:
        transformers.core_model_loading.revert_weight_conversion = original
    assert any("a.weight" in str(each.message) and issubclass(each.category, mtc.ExportWarning) for each in caught), caught
