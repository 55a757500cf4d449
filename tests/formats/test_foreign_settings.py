"""Configurations with the keys of CONVINSE's, EXPLAIGNN's and FAITH's files; the values are of these tests."""

import pytest
import yaml

from convinse.config import load_config
from convinse.formats.foreign_settings import as_yaml, migrate
from convinse.support.errors import ConfigError
from refusals import refused
from written import write

SHARED = {
    "name": "mine", "log_level": "INFO", "source_combinations": [["kb"], ["kb", "text"]],
    "path_to_stopwords": "s.txt", "path_to_labels": "l.json", "path_to_wikipedia_mappings": "a.json",
    "path_to_wikidata_mappings": "b.json", "benchmark": "convmix", "benchmark_path": "data/convmix",
    "train_input_path": "a.json", "dev_input_path": "b.json", "test_input_path": "c.json",
    "path_to_intermediate_results": "out/convmix",
    "clocq_params": {"h_match": 0.5, "h_rel": 0.1, "h_conn": 0.3, "h_coh": 0.1, "d": 7, "k": "AUTO", "p_setting": 900,
                     "bm25_limit": False},
    "clocq_p": 800, "clocq_use_api": True, "clocq_host": "https://example.org/api", "clocq_port": "443",
    "evr_min_evidence_length": 4, "evr_max_evidence_length": 150, "evr_max_entities": 9, "evs_max_evidences": 60,
    "ha_max_answers": 20,
}  # fmt: skip
SR = {
    "sr_architecture": "BART", "sr_model_path": "sr.bin", "sr_max_input_length": 300, "sr_delimiter": "||",
    "sr_num_train_epochs": 4, "sr_per_device_train_batch_size": 6, "sr_per_device_eval_batch_size": 5,
    "sr_warmup_steps": 9, "sr_weight_decay": 0.02, "sr_no_repeat_ngram_size": 3, "sr_num_beams": 8, "sr_early_stopping": True,
    "sr_relation_shared_active": True, "sr_remove_stopwords": True, "tr_transitive_relevances": False,
    "tr_extract_dataset": False, "history_separator": " ||| ", "path_to_annotated": "out", "ers_use_cache": True,
    "ers_wikipedia_dump": "data/w.pickle", "ers_on_the_fly": True,
}  # fmt: skip
FID = dict.fromkeys(
    "fid_model_path fid_per_gpu_batch_size fid_max_evidences fid_lr fid_optim fid_scheduler fid_weight_decay "
    "fid_text_maxlength fid_answer_maxlength fid_total_step fid_warmup_step fid_num_beams fid_top_k".split(), 1
)  # fmt: skip
GNN = dict.fromkeys(
    "gnn_encoder_lm gnn_encoder_linear gnn_emb_dimension gnn_enc_sr_max_input gnn_enc_ev_max_input gnn_enc_ent_max_input "
    "gnn_model gnn_num_layers gnn_answering gnn_max_output_evidences gnn_shuffle_evidences gnn_mask_question_entities "
    "gnn_max_evidences gnn_max_entities gnn_train_max_pos_evidences gnn_train_batch_size gnn_epochs gnn_learning_rate "
    "gnn_weight_decay gnn_clipping_max_norm gnn_dropout gnn_train gnn_eval_batch_size gnn_inference gnn_model_dir "
    "ha_max_supporting_evidences".split(), 1,
)  # fmt: skip
CONVINSE = {**SHARED, **SR, **FID, "qu": "sr", "ers": "clocq_bm25", "ha": "fid", "sr_separator": " || ",
            "ers_cache_path": "c/er_cache.pickle", "evr_max_pos_evidences": 10}  # fmt: skip
EXPLAIGNN = {**SHARED, **SR, **GNN, "qu": "sr", "ers": "rers", "ha": "explaignn", "dev": False, "ds_sources": ["kb"],
             "ds_prune_noisy_qa_pairs": False, "ds_all_evidences": False, "sr_avoid_hallucination": True, "sr_k": 10,
             "sr_max_output_length": 30, "ers_cache": "c.pickle", "ers_wikipedia_to_wikidata_links_cache": "l.pickle"}  # fmt: skip
_TEMPORAL = dict.fromkeys(
    [f"{kind}_{key}" for kind in ("iques", "tsf") for key in (
        "architecture model max_input_length avoid_hallucination num_train_epochs per_device_train_batch_size "
        "per_device_eval_batch_size warmup_steps weight_decay no_repeat_ngram_size num_beams early_stopping k delimiter "
        "max_length").split()]
    + "faith_or_unfaith reference_time question_date_tag_method evidence_date_tag_method spacy_model path_to_data "
      "path_to_results tsf_relation_shared_active tsf_remove_stopwords ds_sources ds_remove_stopwords tsf_annotated_path "
      "tsf_train tsf_dev gpt3_use_cache_iques gpt3_cache_path_iques openai_organization openai_api_key gpt3_model_iques "
      "intermediate_question_dataset_path intermediate_question_train intermediate_question_dev tqu_oracle_temporal_value "
      "tqu_oracle_temporal_category run_tvr tvr_topk_answer er_wikipedia_use_cache ers_update_clocq_cache "
      "evr_max_pos_evidences es_sample_method bert_max_pos_evidences_per_source bert_train_batch_size bert_model "
      "ha_architecture ha_max_input_length ha_max_output_length ha_model_dir ha_num_train_epochs "
      "ha_per_device_train_batch_size ha_per_device_eval_batch_size ha_warmup_steps ha_weight_decay "
      "ha_no_repeat_ngram_size ha_num_beams ha_early_stopping".split(), "secret",
)  # fmt: skip
FAITH = {**SHARED, **GNN, **_TEMPORAL, "tqu": "seq2seq_tqu", "fer": "fer", "ha": "explaignn", "benchmark": "tiq",
         "benchmark_path": "bench", "er_use_cache": False, "er_cache_path": "c.pickle", "er_wikipedia_dump": "w.pickle",
         "er_on_the_fly": True, "evs_model": "sbert", "bert_num_epochs": 3, "bert_max_neg_evidences": 5,
         "bert_pretrained_model": "distilroberta-base"}  # fmt: skip
SYSTEMS = {"CONVINSE": CONVINSE, "EXPLAIGNN": EXPLAIGNN, "FAITH": FAITH}


def migrated(settings, name="theirs.yml"):
    return migrate(write(name, yaml.safe_dump(settings)))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_key_is_taken_over_or_listed_and_the_result_is_valid(system):
    done = migrated(SYSTEMS[system])
    assert done.system == system
    listed = {note.key for note in done.notes}
    assert not [note for note in done.notes if note.advice.startswith("not known here") or not note.advice.strip()]
    config = load_config(write("ours.yml", as_yaml(done, "theirs.yml")))
    for key, value in SYSTEMS[system].items():
        if key not in listed and key in done.settings and key not in ("sr_delimiter", "benchmark_path"):
            assert done.settings[key] == value
    answers = ("seq2seq", "out/convmix/mine/ha_model") if system == "CONVINSE" else ("extractive", "snapshot:model")
    assert (config.name, config.ha, config.ha_model) == ("mine", *answers)
    assert (config.clocq_p, config.clocq_params.d, config.clocq_use_api, config.evs_max_evidences) == (800, 7, True, 60)
    assert (config.output_path, config.ha_max_answers, config.evr_max_evidence_length) == ("out/convmix", 20, 150)
    assert config.combinations == [("kb",), ("kb", "text")]
    assert "secret" not in as_yaml(done, "theirs.yml")


def test_representations_as_theirs_are_written_and_trained():
    done = migrated(CONVINSE)
    assert done.settings["qu_sr"] == {"max_input_length": 300, "batch_size": 5, "no_repeat_ngram_size": 3, "num_beams": 8,
                                      "early_stopping": True}  # fmt: skip
    assert done.settings["qu_training"] == {
        "base": "facebook/bart-base",
        "epochs": 4,
        "batch_size": 6,
        "weight_decay": 0.02,
    }
    assert done.settings["sr_delimiter"] == " || " and done.settings["qu_model"] == "out/convmix/mine/qu_model"
    assert (done.settings["qu"], done.settings["ers"]) == ("sr", "clocq_bm25")
    notes = dict(done.notes)
    assert "import-pickle data/w.pickle --output data/w.db" in notes["ers_wikipedia_dump"]
    assert done.settings["ers_wikipedia_dump"] == "data/w.db" and "ers_cache_path" not in done.settings


def test_fusion_in_decoder_as_theirs_reads_and_is_trained():
    values = {"fid_max_evidences": 60, "fid_text_maxlength": 200, "fid_answer_maxlength": 8, "fid_num_beams": 4, "fid_lr": 1e-4,
              "fid_per_gpu_batch_size": 2, "fid_weight_decay": 0.02, "fid_total_step": 15000, "fid_warmup_step": 1000}  # fmt: skip
    done = migrated({**CONVINSE, **values})
    assert done.settings["ha_seq2seq"] == {
        "evidences": 60,
        "max_input_length": 200,
        "max_output_length": 8,
        "num_beams": 4,
    }
    assert done.settings["ha_training"] == {
        "base": "google-t5/t5-base",
        "learning_rate": 1e-4,
        "batch_size": 2,
        "weight_decay": 0.02,
        "warmup": 0.067,
    }
    notes = dict(done.notes)
    assert "train ha" in notes["fid_model_path"] and "epochs" in notes["fid_total_step"] and "fid_lr" not in notes


def test_keys_of_fusion_in_decoder_are_not_taken_for_those_of_another_stage():
    done = migrated({**EXPLAIGNN, "fid_lr": 1e-4, "fid_warmup_step": 5, "fid_total_step": 50})
    assert "ha_training" not in done.settings and {"fid_lr", "fid_warmup_step"} <= {note.key for note in done.notes}


@pytest.mark.parametrize("steps", [{"fid_warmup_step": 9}, {"fid_warmup_step": 9, "fid_total_step": 5}])
def test_a_warmup_that_is_no_share_of_the_steps_is_listed(steps):
    done = migrated({"ha": "fid", **steps})
    assert "warmup" not in done.settings["ha_training"] and "share" in dict(done.notes)["fid_warmup_step"]
    assert "train ha" in dict(done.notes)["ha"]


def test_faith_s_names_become_ours():
    done = migrated(FAITH).settings
    assert (done["qu"], done["ers"], done["benchmark_path"], done["ers_use_cache"]) == (
        "history",
        "native",
        "bench/tiq",
        False,
    )
    assert (
        done["evs_training"] == {"epochs": 3, "negatives": 5, "base": "distilroberta-base"} and "evs_model" not in done
    )


@pytest.mark.parametrize(
    ("given", "qu"),
    [({"qu": "nc_prev", "naive_concat": "prev"}, "nc_prev"), ({"qu": "naive_concat", "naive_concat": "init"}, "nc_init"),
     ({"qu": "qrew", "qrew_do_sample": True}, "history"), ({"qu": "qres", "qres_model_id": "x"}, "history")],
)  # fmt: skip
def test_question_understanding_by_its_names(given, qu):
    done = migrated(given)
    assert done.settings == {"qu": qu} and len(done.notes) == (2 if qu == "history" else 1)


def test_what_nobody_knows_is_listed_with_what_to_do():
    notes = dict(migrated({"evs_max_evidence": 5, "my_threshold": 0.5, 7: 1, "a\nb": 1}).notes)
    assert "did you mean 'evs_max_evidences'?" in notes["evs_max_evidence"] and "below custom" in notes["my_threshold"]
    text = as_yaml(migrated({"a\nb\x07": 1, "name": "x"}), "th\neirs.yml")
    assert yaml.safe_load(text) == {"name": "x"}


def test_retrieval_as_theirs_needs_an_entity():
    assert migrated({"ers": "clocq_bm25"}).settings["evr_require_entity"] is True
    assert migrated({"ers": "clocq_bm25", "evr_require_entity": False}).settings["evr_require_entity"] is False
    assert "evr_require_entity" not in migrated({"ers": "rers"}).settings


def test_a_file_of_this_project_stays_as_it_is():
    own = {
        "name": "x",
        "qu": "history",
        "evs_max_evidences": 5,
        "qu_sr": {"num_beams": 2},
        "ha": "seq2seq",
        "ha_model": "m",
    }
    assert migrated(own).settings == own and migrated(own).notes == []


@pytest.mark.parametrize(
    ("settings", "fault"),
    [({"qu": ["a"]}, "qu"), ({"evs_max_evidences": "many"}, "evs_max_evidences"), ({"sr_num_beams": -1}, "qu_sr.num_beams"),
     ({"clocq_params": 5}, "clocq_params"), ({"name": "../x"}, "name"), ({"qu_sr": 5}, "qu_sr")],
)  # fmt: skip
def test_a_value_that_its_key_cannot_have_is_one_line(settings, fault):
    refused(ConfigError, lambda: migrated(settings), "theirs.yml, taken over", fault)


@pytest.mark.parametrize("text", ["[1]", "{", "a: *b"])
def test_what_is_no_configuration(text):
    refused(ConfigError, lambda: migrate(write("bad.yml", text)), "bad.yml")


def test_a_run_with_such_a_file_names_all_wrong_keys_at_once():
    path = write("theirs.yml", yaml.safe_dump(CONVINSE))
    line = refused(ConfigError, lambda: load_config(path), "convinse migrate-config")
    assert not [key for key in (*FID, "log_level", "sr_num_beams", "path_to_labels") if f"'{key}'" not in line]
    refused(
        ConfigError, lambda: load_config(write("n.yml", "qu_sr: {a: 1, b: 2}")), "2 unknown keys: 'a', 'b'; valid: "
    )


def test_the_command_writes_ours_and_tells_what_to_do(command, command_error):
    path = write("theirs.yml", yaml.safe_dump(CONVINSE))
    assert yaml.safe_load(command("migrate-config", path)) == migrate(path).settings
    told = command("migrate-config", path, "--output", "ours.yml")
    assert told.startswith("ours.yml: from a configuration of CONVINSE\n") and "  fid_optim: " in told
    assert load_config("ours.yml").qu == "sr"
    assert "ours.yml: exists already" in command_error("migrate-config", path, "--output", "ours.yml")
    assert "none.yml: cannot be read" in command_error("migrate-config", "none.yml")
