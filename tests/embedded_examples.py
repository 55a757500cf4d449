"""What tests of the embedded model's recipe share: examples in the words of tiny models, and a model of known outputs."""

import random
import re

from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.joint import JointOutput
from recipes.embedded.examples import Candidate, Example
from tiny_models import WORDS, joint, torch

LENGTH = 64  # tokens of a window
ANSWERS = ("basquiat", "kate winslet", "1969", "titanic")  # in pieces, two words, digits, one piece
FILLING = [word for word in WORDS if word != "titanic"]


def joint_checkpoint():
    return load_checkpoint(joint(), "embedding")


def example(chance, words, number, wrong):
    """A question whose answer stands once or more in a text of some words."""
    answer = chance.choice(ANSWERS)
    filling = chance.choices(FILLING, k=words)
    for _ in range(chance.randint(1, 3)):
        filling.insert(chance.randrange(len(filling) + 1), answer)
    text = " ".join(filling)
    spans = tuple(match.span() for match in re.finditer(answer, text))
    negatives = [Candidate(" ".join(chance.choices(FILLING, k=words))) for _ in range(wrong)]
    query = " ".join(chance.choices(FILLING, k=5))
    return Example(query, (Candidate(text, True, spans), *negatives), "made", f"key {number}", f"group {number}")


def examples(number, words, seed=0, wrong=2):
    """So many examples with texts of so many words, `wrong` of which do not answer."""
    chance = random.Random(seed)
    return [example(chance, words, place, wrong) for place in range(number)]


def unanswerable(number, wrong=2):
    """A question that none of its texts answers."""
    chance = random.Random(f"unanswerable {number}")
    texts = tuple(Candidate(" ".join(chance.choices(FILLING, k=6))) for _ in range(wrong))
    return Example(f"who {' '.join(chance.choices(FILLING, k=3))}", texts, "made", f"none {number}")


class FixedOutputs(torch.nn.Module):
    """A model whose outputs for a batch are its parameters, drawn at random: the values of its losses are known."""

    device = torch.device("cpu")

    def __init__(self, batch, seed=0):
        super().__init__()
        self.row_of = {tuple(ids): row for row, ids in enumerate(batch.sequences.ids)}
        assert len(self.row_of) == len(batch.relevant)
        chance = torch.Generator().manual_seed(seed)
        rows, longest = len(batch.relevant), int(batch.sequences.lengths.max())
        self.odds = torch.nn.Parameter(torch.randn(rows, generator=chance))
        self.starts = torch.nn.Parameter(torch.randn(rows, longest, generator=chance))
        self.ends = torch.nn.Parameter(torch.randn(rows, longest, generator=chance))

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        real = [ids[mask.bool()] for ids, mask in zip(input_ids, attention_mask, strict=True)]
        rows, width = [self.row_of[tuple(ids.tolist())] for ids in real], input_ids.shape[1]
        starts, ends = self.starts[rows, :width], self.ends[rows, :width]
        return JointOutput(logits=self.odds[rows, None], start_logits=starts, end_logits=ends)
