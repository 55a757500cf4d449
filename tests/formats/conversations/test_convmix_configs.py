"""The configurations of config/convmix against the settings that CONVINSE published (its config/convmix/*.yml)."""

import pytest

from convinse.config import load_config, project_root

CONVINSE = {
    "ers": "clocq_bm25",
    "benchmark": "convmix",
    "train_input_path": "train_set/train_set_ALL.json",
    "dev_input_path": "dev_set/dev_set_ALL.json",
    "test_input_path": "test_set/test_set_ALL.json",
    "history_separator": " ||| ",
    "clocq_use_api": True,
    "clocq_host": "https://clocq.mpi-inf.mpg.de/api",
    "clocq_port": 443,
    "clocq_p": 1000,
    "ers_use_cache": True,
    "ers_on_the_fly": True,
    "evr_min_evidence_length": 3,
    "evr_max_evidence_length": 200,
    "evr_max_entities": 10,
    "evs_max_evidences": 100,
    "ha_max_answers": 50,
}
WEIGHTS = {"h_match": 0.4, "h_rel": 0.2, "h_conn": 0.3, "h_coh": 0.1}
CLOCQ = {**WEIGHTS, "d": 20, "k": "AUTO", "p_setting": 1000, "bm25_limit": 0}
PAIRS = "kb_text kb_table kb_info text_table text_info table_info"
SOURCES = {"kb", "text", "table", "info", *PAIRS.split(), "kb_text_table_info"}
QU = {
    "convinse": "sr",
    "convinse_fid": "sr",
    **{name: name for name in ("nc_init", "nc_prev", "nc_init_prev", "nc_all")},
}


def test_each_way_of_understanding_and_fusion_in_decoder_have_a_configuration_with_a_folder_of_results():
    names = {path.stem for path in (project_root() / "config" / "convmix").glob("*.yml")}
    assert names == set(QU) and len({load_config(f"convmix/{name}.yml").name for name in names}) == len(names)


@pytest.mark.parametrize("name", QU)
def test_the_settings_are_those_of_convinse(name):
    config = load_config(f"convmix/{name}.yml")
    assert config.qu == QU[name]
    assert {key: getattr(config, key) for key in CONVINSE} == CONVINSE
    assert {key: getattr(config.clocq_params, key) for key in CLOCQ} == CLOCQ
    assert {"_".join(sources) for sources in config.combinations} == SOURCES
    assert config.ers_wikipedia_dump  # the published one, imported


def test_the_representations_are_written_by_the_model_that_is_trained():
    config = load_config("convmix/convinse.yml")
    assert config.qu_model == f"{config.output_path}/{config.name}/qu_model"  # where train qu puts it
    assert config.qu_training.output is None
    assert config.qu_training.base
