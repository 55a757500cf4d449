"""The programs of the page of the neighbours run as they are printed."""

import pytest

from documentation import block


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    ("module", "heading", "printed"),
    [
        ("datasets", "Hugging Face datasets", "evidence_text"),
        ("haystack", "Haystack", "James Cameron"),
        ("langchain_core", "LangChain", "James Cameron"),
        ("pyterrier", "PyTerrier", "again"),
    ],
)
def test_the_program_of_the_page_runs(workdir, capsys, module, heading, printed):
    pytest.importorskip(module)
    exec(compile(block("docs/neighbours.md", "python", after=f"## {heading}"), "docs/neighbours.md", "exec"), {})
    assert printed in capsys.readouterr().out
