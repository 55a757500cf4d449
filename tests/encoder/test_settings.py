"""How models compute: the settings that all heads take."""

import pytest

from convinse.config import load_config, parse_config
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.reranker import BertReranker
from convinse.encoder.settings import ModelSettings
from convinse.encoder.yes_no_reader import YesNoReader
from convinse.resources import Resources
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import joint

OWN = ModelSettings(device="cpu", precision="bf16", token_budget=77, max_length=70, stride=9, key="mine")


@pytest.mark.parametrize("kind", [BertReranker, BiEncoder, ExtractiveReader])
def test_a_head_computes_as_its_settings_say(kind):
    head = kind(joint(), settings=OWN)
    engine = head.engine
    assert (engine.backend.device, engine.precision, engine.token_budget) == ("cpu", "bf16", 77)
    assert head.tokenizer.max_length == 70


@pytest.mark.parametrize("kind", [BertReranker, BiEncoder, ExtractiveReader])
def test_single_settings_are_keyword_arguments(kind):
    head = kind(joint(), device="cpu", settings=OWN, precision="fp32", max_length=40)
    assert (head.engine.precision, head.engine.token_budget) == ("fp32", 77)
    assert head.tokenizer.max_length == 40
    with pytest.raises(TypeError, match="precison"):
        kind(joint(), precison="fp32")


def test_messages_name_the_key():
    for kind in (BertReranker, BiEncoder, ExtractiveReader, YesNoReader):
        refused(ModelError, lambda kind=kind: kind("./nowhere", settings=OWN), "mine: ./nowhere")


def test_a_pool_shares_what_computes_alike():
    pool = ModelPool()
    reranker, encoder, reader = (
        kind(joint(), settings=OWN, models=pool) for kind in (BertReranker, BiEncoder, ExtractiveReader)
    )
    assert reranker.engine is encoder.engine is reader.engine
    assert BertReranker(joint(), settings=OWN, backend="torch", models=pool).engine is not reader.engine
    assert BertReranker(joint(), settings=OWN, max_length=40, models=pool).engine is reader.engine


@pytest.mark.parametrize(
    ("precision", "budget"), [("precision", "token_budget"), ("evs_precision", "evs_token_budget")]
)
def test_a_configuration_says_how_all_its_models_compute(precision, budget):
    keys = {"device": "cpu", precision: "bf16", budget: 99, "evs_max_length": 66, "ha_max_length": 88, "ha_stride": 7}
    config = parse_config({"ers_use_cache": False, "evs_model": str(joint()), "ha_model": str(joint()), **keys})
    resources = Resources(config)
    bi_encoder = resources.embeddings(config.evs_model, "evs_bi_encoder").bi_encoder
    reranker, reader = resources.reranker(), resources.reader(config.ha_model)
    for head, length in ((reranker, 66), (bi_encoder, 66), (reader, 88)):
        assert (head.engine.precision, head.engine.token_budget) == ("bf16", 99)
        assert head.tokenizer.max_length == length
    assert reader.settings.stride == 7
    refused(ModelError, lambda: Resources(load_config("lexical.yml")).reader("./nowhere"), "ha_model: ./nowhere")
