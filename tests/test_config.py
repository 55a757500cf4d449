import os
import sys
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.config import (
    SNAPSHOT,
    Config,
    cache_path,
    find_config,
    load_config,
    load_settings,
    own_configurations,
    parse_config,
    project_root,
    resolve,
    to_dict,
)
from convinse.support.errors import ConfigError, UnknownKeyError
from convinse.training.mrqa_reader import ReaderTraining
from refusals import refused
from written import write


@pytest.fixture
def written(workdir):
    return lambda text, name="my.yml": write(workdir / name, text)


def unusable(path, *words, **overrides):
    refused(ConfigError, lambda: load_config(path, **overrides), *words)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}"])
def test_an_empty_file_gives_the_defaults(written, text):
    assert load_config(written(text)) == Config()


def test_the_values_of_a_convinse_file_are_accepted(written):
    path = written(
        """
source_combinations: [["kb", "text", "table", "info"], ["kb"], [text, infobox], "kb_text"]
clocq_port: "443"
evs_training: {learning_rate: 2e-5}
clocq_params: {h_rel: 0, k: "AUTO", bm25_limit: false}
ers_wikipedia_dump: null
"""
    )
    config = load_config(path)
    assert config.combinations == [("kb", "text", "table", "info"), ("kb",), ("text", "info"), ("kb", "text")]
    assert config.clocq_port == "443"
    assert config.clocq_params.bm25_limit is False
    assert config.clocq_params.h_rel == 0
    assert config.evs_training.learning_rate == 2e-5  # a string for YAML 1.1
    assert config.ers_wikipedia_dump is None
    assert parse_config(to_dict(config)) == config


def test_a_file_may_be_based_on_another(written):
    written("evs_max_evidences: 7\nname: first\nclocq_params: {d: 5, k: 6}\n", "first.yml")
    written("base: first.yml\nname: second\n", "second.yml")
    third = written("base: second.yml\nclocq_params: {k: 9}\n", "third.yml")
    found = load_config(third, ["clocq_params.d=3", "sr_delimiter=' | '", "qu_rewriter=null"], seed=5)
    assert (found.name, found.evs_max_evidences, found.seed, found.sr_delimiter) == ("second", 7, 5, " | ")
    assert (found.clocq_params.d, found.clocq_params.k) == (3, 9)
    assert load_config(written("base: lexical.yml\nname: mine\n")).ha == "entity_voting"


@each_case("configuration")
def test_a_file_that_is_no_configuration_is_one_line(written, case):
    path = written(case["text"])
    words = case["says"] if "set" in case else [str(path), *case["says"]]
    refused(ConfigError, lambda: load_config(path, case.get("set", ())), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"name: \xff\xfe", "YAML"),
        (b"name: \x00", "YAML"),
        (f"custom: {{a: {'[' * 600}{']' * 600}}}", "nested too deep"),
        (f"seed: {'9' * 5000}", "digits"),
        ("custom: " + "x" * 300_000, "larger than 256 kB"),
    ],
    ids=["no text", "a null byte", "deep", "digits", "large"],
)
def test_a_file_that_is_no_text_or_too_much_is_one_line(written, text, words):
    path = written(text)
    unusable(path, str(path), words)


@pytest.mark.parametrize("path", sorted((project_root() / "config").rglob("*.yml")), ids=lambda path: path.name)
def test_the_configurations_of_the_project_are_valid(path):
    if path.parent.name == "model":
        return  # recipes of the scripts, checked where they are read
    load_settings(ReaderTraining, path) if path.parent.name == "mrqa" else load_config(path)


def test_a_configuration_is_named_once_among_those_that_there_are(monkeypatch):
    monkeypatch.chdir(project_root())  # where `config/` of the folder is that of the project
    with pytest.raises(ConfigError) as raised:
        load_config("nothing-like-it.yml")
    assert str(raised.value).count(" lexical.yml") == 1


def test_precision_has_the_name_that_it_had_for_scoring(written):
    config = load_config(written("evs_precision: int8"))
    assert config == load_config(written(""), evs_precision="int8") == parse_config({"precision": "int8"})
    assert config.evs_precision == config["evs_precision"] == config["precision"] == "int8"
    assert "evs_precision" not in to_dict(config)  # so that both are the same run
    unusable(written("precision: bf16\nevs_precision: int8\n"), "evs_precision: 'int8'", "precision: 'bf16'")


# --- read by key, as CONVINSE's own modules do


def test_keys_are_read_as_in_a_mapping():
    config = parse_config({"ers_use_cache": False, "clocq_params": {"k": 3}, "custom": {"mine": [1], "seed": 5}})
    assert config["ers_use_cache"] is False and config["custom"] == config.custom
    assert config["clocq_params"]["k"] == 3 and "h_mach" not in config["clocq_params"]
    assert config["mine"] == config.get("mine") == [1] and "mine" in config
    assert config["seed"] == 42  # the project's own
    assert config.get("not_there") is None and config.get("not_there", 5) == 5 and config.get("ha_model", 5) is None
    assert "seed" in config and "evs_precision" in config and "not_there" not in config and 5 not in config


def test_a_key_that_is_not_there_is_an_error_of_one_line():
    config = parse_config({"custom": {"my_learning_rate": 1}})
    line = refused(
        UnknownKeyError, lambda: config["ers_cach_path"], "unknown key 'ers_cach_path'; did you mean 'ers_cache_path'?"
    )
    assert line[0] != '"'
    refused(KeyError, lambda: config["my_learning_rat"], "did you mean 'my_learning_rate'")
    refused(ConfigError, lambda: config["clocq_params"]["h_mach"], "ClocqParams", "did you mean 'h_match'")
    refused(ConfigError, lambda: config["evs_training"]["learning"], "did you mean 'learning_rate'")


def test_a_file_beside_the_user_wins_over_config_folders(written):
    assert find_config("config/mrqa/tiny.yml") == find_config("mrqa/tiny.yml") == own_configurations() / "mrqa/tiny.yml"
    inner = written("name: inner", "config/mine.yml")
    assert find_config("mine.yml").resolve() == inner
    outer = written("name: outer", "mine.yml")
    assert find_config("mine.yml").resolve() == outer
    assert load_config("mine.yml").name == "outer"
    assert load_config(Path("config") / "mine.yml").name == "inner"


def test_paths(workdir, written):
    assert resolve(SNAPSHOT + "kb") == project_root() / "convinse" / "snapshot" / "kb"
    assert resolve("data/x") == Path("data/x")
    assert "~" not in str(resolve("~/x"))
    config = parse_config({"benchmark_path": "data", "dev_input_path": str(workdir / "dev.json")})
    assert config.input_path("test") == Path("data/test.json")
    assert config.input_path("dev") == workdir / "dev.json"
    assert Config().input_path("test").is_file()


def test_data_lies_beside_the_configuration_that_names_it(workdir, written):
    for name in ("mine/test.json", "mine/kb/entities", "test.json", "here/x", "dev.json"):
        write(workdir / name, "[]")
    written("test_input_path: test.json\nkb_path: kb\nha_training: {base: kb}\n", "mine/base.yml")
    written("base: mine/base.yml\ndev_input_path: dev.json\nha_model: here\n")
    config = load_config("my.yml")
    assert [config.input_path(part) for part in ("test", "dev")] == [Path("mine/test.json"), Path("dev.json")]
    assert (config.kb_path, config.ha_training.base, config.ha_model) == ("mine/kb", "mine/kb", "here")
    assert load_config("mine/base.yml", ["dev_input_path=dev.json"]).input_path("dev") == Path("dev.json")
    assert parse_config(to_dict(config)) == config


def test_a_file_that_happens_to_lie_in_the_working_folder_is_not_meant(workdir, written):
    written("[]", "test.json")
    for config in (load_config(), load_config(written("name: x\n")), parse_config({"benchmark_path": "data"})):
        assert config.input_path("test") == resolve(config.benchmark_path) / "test.json"


def test_a_byte_order_mark_is_no_part_of_the_first_key(written):
    assert load_config(written(b"\xef\xbb\xbfname: x")).name == "x"


def test_overrides_are_checked_like_keys(written):
    path = written("name: x\nseed: 1")
    assert load_config(path, seed=7, name="y") == Config(name="y", seed=7)
    unusable(path, "did you mean 'seed'", sed=7)
    unusable(path, "seed", seed="7")
    unusable(path, "'txt'", source_combinations=["kb_txt"])
    assert load_config(written("seed: wrong"), seed=3).seed == 3  # it can mend a key


@pytest.mark.parametrize("name", ["a b", "..a", "-a", "über.de", "x" * 200])
def test_a_name_is_that_of_a_folder_below_output_path(name):
    assert parse_config({"name": name}).name == name


def test_the_cache_is_the_folder_of_that_name_where_there_is_one_else_the_users_own(workdir, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_path(Config()) == "/somewhere/convinse"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # is none, by the specification
    assert cache_path(Config()) == "cache/"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache_path(Config()) == f"/home/me/{'Library/Caches' if sys.platform == 'darwin' else '.cache'}/convinse"
    assert cache_path(Config(ers_cache_path="mine")) == "mine" and cache_path(Config(ers_use_cache=False)) is None
    (workdir / "cache").mkdir()
    assert cache_path(Config()) == "cache/"


def test_a_command_leaves_nothing_where_it_is_called(workdir, tmp_path, command):
    (tmp_path / "linked.yml").write_text("qu: nc_all\nevs: bm25\nha: entity_voting\n")  # what is linked is kept
    command("ask", "--config", tmp_path / "linked.yml", "--sources", "kb", "Who directed Titanic?")
    assert not [*workdir.iterdir()] and (Path(os.environ["XDG_CACHE_HOME"]) / "convinse").is_dir()
