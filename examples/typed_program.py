"""A module and a run of one's own. Type checkers find nothing to say: mypy --strict, pyright."""

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


class FactsAsTheyCome(EvidenceRetrievalScoring):
    """The facts of a question, in the order in which they are retrieved."""

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """See the base class."""
        retriever = ClocqRetriever(self.config, resources=self.resources)
        facts, _ = retriever.retrieve_evidences(turn.get("structured_representation", ""), sources)
        return [{**fact, "score": 1 / (1 + place)} for place, fact in enumerate(facts[: self.config.evs_max_evidences])]


def first_answer(question: str, config: Config) -> tuple[str, float]:
    """The label of the best answer, and how likely it is right."""
    with Pipeline(config, ers=FactsAsTheyCome(config)) as pipeline:
        turn = pipeline.ask([question], "kb")["questions"][0]
    best = turn.get("pred_answers", [])[0]
    return best["answer"]["label"], best["score"]


if __name__ == "__main__":
    try:
        print(*first_answer("Who directed the film Titanic?", load_config("lexical.yml")))
    except ConvinseError as error:
        raise SystemExit(f"convinse: {error}") from error
