from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.records.border import structured
from evidences import evidence


class Fixed(EvidenceRetrievalScoring):
    """Returns what it is told."""

    returned = ()

    def inference_on_turn(self, turn, sources):
        return list(self.returned)


def test_what_is_returned_is_stored():
    turn, module = {"question": "x", "top_evidences": [evidence("stale")]}, Fixed(parse_config({}))
    module.returned = [evidence("a")]
    assert module.inference_on_turns([turn], ("text",)) == [[structured(evidence("a"))]]
    assert turn == {"question": "x", "top_evidences": [structured(evidence("a"))]}


def test_every_turn_of_every_conversation_is_done():
    conversations = [{"conv_id": str(n), "questions": [{"question": "x"}, {"question": "y"}]} for n in range(3)]
    Fixed(parse_config({})).inference_on_data(conversations, ("kb",))
    assert [turn["top_evidences"] for one in conversations for turn in one["questions"]] == [[]] * 6
