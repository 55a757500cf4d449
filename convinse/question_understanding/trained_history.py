"""The slots of `slots`, where a small trained model decides what of the history a question is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ..encoder.bi_encoder import KeptEmbeddings
from ..language.text import fold
from ..records.conversation import Turn
from ..resources import model_path
from ..support.errors import ModelError
from .history_features import Embedder, FeatureReader
from .history_weights import HistoryWeights, read_weights
from .referents import Asked, ChosenReferents, Focus, is_excluded
from .slots import Slots

SHIPPED = "snapshot:history"
_DIGITS = 3  # of a probability that is shown
_BESIDE_NAMES = 0.4  # the least probability of what a question with names of its own is about, too
_SHARE = 0.2  # of the likeliest item's probability: what is less likely is not meant beside it


class TrainedHistory(Slots):
    """`context || question entities || predicate words || expected answer type`; see `Slots`.

    What the question says by itself (names, predicate, type, ellipsis) is found by the rules of `Slots`. Of all that
    was asked about and answered before, a question is about what the model holds likely enough: with names of its own
    that is its context, else these are its entities. Where nothing is likely the conversation has turned to another
    topic; a question without any name is then about the likeliest all the same.

    Args:
        config: `qu_model` (a folder of `train qu`; by default the model that ships with the project), `qu_history`, the
            models' keys (`device`, `precision`, `token_budget`, `evs_max_length`), where embeddings are kept
            (`ers_use_cache`, `ers_cache_path`), and those of `Slots`.
        resources: what the stages of a pipeline share.
    """

    trainer = "convinse.training.history:train_history"

    @cached_property
    def weights(self) -> HistoryWeights:
        """The configured model, read on first use.

        Raises:
            ModelError: it is missing, damaged or of another version.
        """
        return read_weights(Path(model_path(self.config.qu_model or SHIPPED)).expanduser())

    @cached_property
    def embedder(self) -> Embedder:
        """The configured encoder, loaded on first use; it is shared with the other stages where it is the same.

        Raises:
            ModelError: it cannot be loaded, or is not the encoder of the model's training.
            DependencyError: the extra `neural` is not installed.
        """
        embedder, encoder = self.load_encoder()
        if encoder != self.weights.encoder:
            raise ModelError(
                f"qu_history.encoder: {self.config.qu_history.encoder} is another model than the one that "
                f"{self.config.qu_model or SHIPPED} was trained with; train it again (train qu) or name that one"
            )
        return embedder

    def load_encoder(self) -> tuple[Embedder, str]:
        """The configured encoder, whose embeddings the cache keeps, and the id of its weights."""
        name = self.config.qu_history.encoder
        bi_encoder, vectors = self.resources.bi_encoder(name, "qu_history.encoder")
        weights, _, _ = bi_encoder.model_id.rsplit("/", 2)  # without length and precision
        return KeptEmbeddings(bi_encoder, vectors), weights

    @cached_property
    def reader(self) -> FeatureReader:
        """Reads the features of questions."""
        return FeatureReader(self.kb, self.embedder, self.language)

    def _choose(self, asked: Asked, foci: Sequence[Focus], history: Sequence[Turn]) -> ChosenReferents:
        referents = FeatureReader.referents(asked, foci)
        words = set(fold(asked.question).split())
        if not referents or (not words & self.language.words.personal and self._is_new_topic(asked.named, foci)):
            return ChosenReferents(asked.named, ())
        rules = super()._choose(asked, foci, history)
        likely = self.weights.probabilities(self.reader.read(asked, rules, foci, history))
        ranked = sorted(zip(referents, likely, strict=True), key=lambda pair: -pair[1])
        if not asked.named:  # else the pronoun may mean what the question names
            ranked = [pair for pair in ranked if not is_excluded(words, pair[0], self.language.words)] or ranked
        least = max(self.weights.threshold, _SHARE * ranked[0][1], _BESIDE_NAMES if asked.named else 0.0)
        chosen = [pair for pair in ranked if pair[1] >= least][: self.config.qu_history.most]
        if not chosen and not asked.named:
            chosen = ranked[:1]
        meant = tuple(referent for referent, _ in chosen)
        if words and asked.elliptical and not asked.named and not words & self.language.words.personal:  # "And where?"
            meant = tuple(dict.fromkeys((*foci[-1].asked[:1], *meant)))
        scores = {referent.id: round(score, _DIGITS) for referent, score in chosen}
        return ChosenReferents(asked.named, meant, scores) if asked.named else ChosenReferents(meant, (), scores)
