import pytest

from convinse.serving.service_access import TOKEN_VARIABLE, read_token
from convinse.support.errors import ConfigError

TOKEN = "abcdefgh-12345678"


def test_the_token_of_a_file_comes_before_that_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert read_token(None) is None
    monkeypatch.setenv(TOKEN_VARIABLE, "x" * 16)
    assert read_token(None) == "x" * 16
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(str(file)) == TOKEN


@pytest.mark.parametrize("text", ["", "short", "with a space in it", "x" * 20 + "\n" + "y" * 20, "ö" * 20])
def test_what_is_no_token(tmp_path, text):
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="token"):
        read_token(str(file))


def test_an_empty_variable_is_no_token(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "")
    with pytest.raises(ConfigError, match=TOKEN_VARIABLE):
        read_token(None)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="no token can be read"):
        read_token(str(tmp_path / "none"))
