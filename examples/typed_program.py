"""A module and a run of one's own. Type checkers find nothing to say: mypy --strict, pyright."""

import re
from collections.abc import Sequence

from convinse import (
    ClocqRetriever,
    Config,
    ConvinseError,
    Evidence,
    EvidenceRetrievalScoring,
    Pipeline,
    Turn,
    load_config,
)


class SharedWords(EvidenceRetrievalScoring):
    """The facts that share most words with the question."""

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """See the base class."""
        retriever = ClocqRetriever(self.config, resources=self.resources)
        facts, _ = retriever.retrieve_evidences(turn.get("structured_representation", ""), sources)
        asked = set(re.findall(r"\w+", turn.get("question", "").lower()))
        shared = [len(asked.intersection(re.findall(r"\w+", fact["evidence_text"].lower()))) for fact in facts]
        best = sorted(zip(shared, facts, strict=True), key=lambda pair: -pair[0])[: self.config.evs_max_evidences]
        return [{**fact, "score": float(words)} for words, fact in best]


def first_answer(question: str, config: Config) -> tuple[str, float]:
    """The label of the best answer, and how likely it is right."""
    with Pipeline(config, ers=SharedWords(config)) as pipeline:
        turn = pipeline.ask([question], "kb")["questions"][0]
    best = turn.get("pred_answers", [])[0]
    return best["answer"]["label"], best["score"]


if __name__ == "__main__":
    try:
        print(*first_answer("What is the duration of Titanic?", load_config("lexical.yml")))
    except ConvinseError as error:
        raise SystemExit(f"convinse: {error}") from error
