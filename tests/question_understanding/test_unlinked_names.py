from case_tables import each_case
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.language import english
from convinse.question_understanding.slots import unlinked_names
from places import SNAPSHOT


@each_case("unlinked_names")
def test_names_without_an_item(case, closed):
    kb = closed(KnowledgeBase(SNAPSHOT / "kb"))
    candidates = [
        {"question_word": name, "item": {"id": "Q1", "label": name}, "score": 1.0, "rank": 0}
        for name in case.get("linked", ())
    ]
    assert unlinked_names(case["question"], candidates, kb, english()) == case["names"]
