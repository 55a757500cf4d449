"""The model card that `train embedded` writes beside the weights."""

from __future__ import annotations

import msgspec

from convinse.training.learning import FitResult
from convinse.training.trainer import model_card, settings_list, validation_table
from recipes.embedded.answer_type import AnswerTypeTraining
from recipes.embedded.hybrid import HYBRID_SETS
from recipes.embedded.reading_files import READING_FILES
from recipes.embedded.recipe import Recipe, Stage

# what each set is, and its licence as its source states it
SOURCES = {
    "boolq": ("BoolQ: question and passage (the passage is to be ranked first)", "CC BY-SA"),
    "conversations": ("the project's own train conversations, evidences by distant supervision", "MIT"),
    "facts": (
        "facts of a Wikidata subset; question patterns of wikidata-simplequestions and of our own",
        "CC0 (Wikidata), CC BY 3.0 (patterns)",
    ),
    "fairytaleqa": ("FairytaleQA: question, story section, span", "Apache-2.0"),
    "lcquad": ("LC-QuAD 2.0 questions (CLOCQ's selection), retrieved facts by distant supervision", "MIT repository"),
    "multiqa_samples": ("samples of MultiQA's data sets", "as each data set"),
    "policyqa": ("PolicyQA (dev file): question, passage of a privacy policy, span", "MIT repository"),
    "qamr": ("QAMR (its dev file and most of its test file): question, sentence, spans", "MIT"),
    "qed": ("QED: question, Wikipedia paragraph, span", "CC BY-SA 3.0 (texts)"),
    "selqa": ("SelQA (dev): question, sentences of a section", "Apache-2.0"),
    "squad_sentences": ("SQuAD questions and the sentences that answer them, without spans", "CC BY-SA 4.0"),
    "mismatched": ("questions on Wikipedia with other paragraphs of the article, which do not answer", "as the files"),
    "squad2_unanswerable": ("SQuAD 2.0: questions that the paragraph does not answer", "CC BY-SA 4.0"),
    "tables": ("WikiTableQuestions whose answer is one cell: rows, the cell", "CC BY-SA 4.0"),
    "timequestions": ("TimeQuestions (dev), retrieved facts by distant supervision", "MIT repository"),
    "tiq": ("TIQ (dev), retrieved facts by distant supervision", "MIT repository"),
    "sentence_lists": (
        "questions on articles of Wikipedia (SQuAD, SQuADShifts, QuoteSum) with the sentences of the article",
        "as the files",
    ),
    "compmix": (
        "CompMix (train), what the pipeline retrieves by distant supervision; from ZhishanQ/UniHGKR",
        "CC BY 4.0",
    ),
    "search_questions": (
        "WikiWebQuestions (dev), the same; from ad-freiburg/grasp",
        "CC BY 4.0 (WebQuestions), Apache-2.0",
    ),
    "template_lists": (
        "facts of a Wikidata subset in the words of KGConv's templates, the same; Orange-OpenSource/KGConv",
        "CC0 (Wikidata), CC BY 4.0 (KGConv), CC BY 3.0 (SimpleQuestions)",
    ),
    **{file.name: (f"{file.content}; from {file.origin}", file.licence) for file in READING_FILES},
    **{record.name: (f"{record.content}; {record.origin}", record.licence) for record in HYBRID_SETS},
}
_LIMITS = """
Small, trained on questions over single sentences, paragraphs, facts and rows: no reasoning over several evidences, no counting,
no comparison of {compared}, no other language. Probabilities were calibrated on held-out examples with a few negatives each; over
hundreds of candidates they are too high. QAMR's test sentences are in the training data: report no figure on them."""
_COMPARED = {"plain": "rows", "ranked": "rows but at the ends of a column and next to each other"}
_EVALUATION = """ Many of its
paragraphs come from published evaluation parts (the table of the data names them): report no figure on these."""
_YES_NO = """
- Yes or no: the same pass as for ranking, then a head of its own (`yes_no.safetensors`), trained on BoolQ over the
  finished trunk -> log odds that the text answers with yes."""

_ANSWER_TYPE = """
- Answer type: `[CLS] question, in full [SEP]`, then a head of its own (`answer_type.safetensors`), trained over the
  finished trunk -> logits of {number} classes of answers: of Wikidata's items, and dates, numbers, yes or no, texts."""
_REWRITE = """
- Rewrite: `[CLS] question [SEP] history [SEP]`, then a head of its own (`rewrite.safetensors`), trained over the finished
  trunk -> for each token of the question queries and keys that point at the span of the history that goes there; of [CLS] at
  the part of the question before that the question takes the place of.
"""
_REWRITTEN = """
Examples in an epoch: what people wrote twice, the project's own conversations four times. `right`: all that the question lacks is pointed at.

| questions | licence | how many |
|---|---|---:|
| CANARD (dev): rewrites of QuAC's questions; aagohary/canard | CC BY-SA 4.0 | 3,423 |
| TREC CAsT 2019 to 2022; daltonj/treccastweb | MIT (repository) | 1,162 |
| TREC iKAT 2023 to 2025; irlabamsterdam/iKAT | MIT | 832 |
| MTRAG (human); IBM/mt-rag-benchmark | Apache-2.0 | 524 |
| ConvMix (dev), four of five groups of conversations; from ZhishanQ/UniHGKR | CC BY 4.0 | 2,340 |
| the project's own train conversations | MIT | 130 |
| conversations of facts of a Wikidata subset, in the words of KGConv's templates; Orange-OpenSource/KGConv | CC0 (Wikidata), CC BY 4.0 (KGConv), CC BY 3.0 (SimpleQuestions) | 10,000 |

"""
_TYPED = """
Questions of SimpleQuestions (CC BY 3.0), RuBQ (CC BY-SA 4.0), TIQ, TimeQuestions, LC-QuAD, ConvQuestions (dev parts where there are
any), the embedded train conversations, BoolQ and SQuAD-like sets (licences as above); classes from the knowledge bases of wikidata-27k and the snapshot. `right`: the
likeliest class is one of the answers'."""


def _drawn(stage: Stage, name: str, sizes: dict[str, int]) -> int:
    """Examples of a data set in an epoch."""
    return min(stage.mixture.get(name, 0), sizes.get(name, 0))


def embedded_card(
    recipe: Recipe,
    sizes: dict[str, int],
    last: FitResult,
    base: str,
    minutes: float,
    decided: FitResult | None = None,
    typed: AnswerTypeTraining | None = None,
    rewritten: FitResult | None = None,
) -> str:
    """What a user of the folder must know.

    Args:
        sizes: examples of each data set to train on.
        last: what the last stage gave.
        decided: what the training of the yes/no head gave; None: there is none.
        typed: what the training of the answer type head gave; None: there is none.
        rewritten: what the training of the rewrite head gave; None: there is none.
    """
    names = sorted({name for stage in recipe.stages for name in stage.mixture})
    rows = "\n".join(
        f"| {SOURCES.get(name, ('', ''))[0] or name} | {SOURCES.get(name, ('', ''))[1]} | {sizes.get(name, 0):,} | "
        + " | ".join(f"{_drawn(stage, name, sizes):,}" for stage in recipe.stages)
        + " |"
        for name in names
    )
    stages = range(1, len(recipe.stages) + 1)
    head = "".join(f" an epoch of stage {number} |" for number in stages)
    shown = [name for name in last.history[0] if name == "mean" or name.endswith((" F1", " first"))]
    settings = {key: value for key, value in msgspec.to_builtins(recipe).items() if key not in ("stages", "base")}
    settings |= {
        f"stage {number}": f"{stage.epochs} epochs, learning rate {stage.learning_rate:g}"
        + "".join(f", {share:.0%} of {name} without negatives" for name, share in sorted(stage.alone.items()))
        for number, stage in zip(stages, recipe.stages, strict=True)
    }
    about = f"""
A BERT with three heads: it ranks texts for a question, marks answers in them, and embeds them. English only. Trained from
`{base}` in {minutes:.0f} minutes by `train embedded`; matrices are stored in int8 with a scale per row.

- Ranking: `[CLS] question or representation [SEP] evidence [SEP]` -> `logits`, log odds that the evidence answers.
- Reading: the same pass -> `start_logits`, `end_logits`; the span of [CLS] says that there is no answer.
- Embedding: `[CLS] text [SEP]` -> the mean of `last_hidden_state`."""
    limits = _LIMITS.format(compared=_COMPARED[recipe.rows.form])
    if any(file.name in names for file in READING_FILES):
        limits += _EVALUATION
    sections = {
        "Limits": limits,
        "Data": f"""
| set | licence | examples to train on |{head}
|---|---|---:|{"---:|" * len(stages)}
{rows}

One key of ten (sentence, page, table, item) is held out of all sets; validation and calibration look at up to {recipe.dev_examples}
held-out examples of each set. Items of the conversations that `bench model` ranks facts for are in no example.""",
        "Settings": settings_list(settings),
        "Validation of the last stage on held-out examples": f"""
`first`: the relevant text before its negatives; `F1`: of tokens of the span read in it. Epoch 0 is what it began with.

{validation_table(last, shown)}""",
    }
    if decided is not None:
        about += _YES_NO
        sections["Validation of the yes/no head on held-out questions of BoolQ"] = validation_table(decided)
    if typed is not None:
        about += _ANSWER_TYPE.format(number=len(typed.classes.names))
        sections["Validation of the answer type head on questions of other templates"] = (
            f"{_TYPED}\n\n{validation_table(typed.fitted)}"
        )
    if rewritten is not None:
        about += _REWRITE.rstrip()
        sections["Rewrites that the rewrite head learned from, and its validation on ConvMix"] = (
            f"{_REWRITTEN}{validation_table(rewritten)}"
        )
    origin = "sentence-transformers/all-MiniLM-L6-v2" if recipe.base is None else base
    front = {"license": "apache-2.0", "language": "en", "library_name": "transformers", "base_model": origin}
    return model_card("The embedded model", about, sections, front)
