"""The rules of MRQA 2019, SQuAD 2.0 and KLUE-MRC once more, in the plainest form, one question after the other.

Written from the rules, apart from the package; slow, and meant to be read.
"""

import string


def columns(questions):
    """The parts of questions, which are tuples, each by id."""
    return tuple({f"q{number}": part for number, part in enumerate(parts)} for parts in zip(*questions, strict=True))


def words(text):
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return without_articles(text).split()


def without_articles(text):
    """Each run of letters, digits and underscores that is an article becomes a blank."""
    out, run = [], ""
    for character in text + "\0":
        if character.isalnum() or character == "_":
            run += character
            continue
        out.append(" " if run in ("a", "an", "the") else run)
        out.append(character)
        run = ""
    return "".join(out)[:-1]


def f1(predicted, gold):
    left = list(gold)
    same = 0
    for token in predicted:
        if token in left:
            left.remove(token)
            same += 1
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(gold)
    return (2 * precision * recall) / (precision + recall)


def mrqa(answers, predictions):
    exact = total = 0
    score = 0.0
    for qid, accepted in answers.items():
        total += 1
        if qid in predictions:
            predicted = words(predictions[qid])
            exact += max(predicted == words(gold) for gold in accepted)
            score += max(f1(predicted, words(gold)) for gold in accepted)
    return {"exact_match": 100.0 * exact / total, "f1": 100.0 * score / total}


def squad2(answers, predictions, na_probs=None, threshold=1.0):
    """SQuAD 2.0; with `answers` of None or nothing for unanswerable questions."""
    exact, score = {}, {}
    for qid, accepted in answers.items():
        if qid not in predictions:
            continue
        golds = [words(gold) for gold in accepted or () if words(gold)] or [[]]
        predicted = words(predictions[qid])
        exact[qid] = max(float(predicted == gold) for gold in golds)
        score[qid] = max(f1(predicted, gold) if predicted and gold else float(predicted == gold) for gold in golds)
    result = {}
    for prefix, kinds in (("", (True, False)), ("HasAns_", (True,)), ("NoAns_", (False,))):
        chosen = [qid for qid in exact if bool(answers[qid]) in kinds]
        if not chosen:
            continue
        for name, values in (("exact", exact), ("f1", score)):
            points = [
                float(not answers[qid]) if na_probs and na_probs[qid] > threshold else values[qid] for qid in chosen
            ]
            result[prefix + name] = 100.0 * sum(points) / len(chosen)
        result[prefix + "total"] = len(chosen)
    if na_probs is not None:
        for name, values in (("exact", exact), ("f1", score)):
            result[f"best_{name}"], result[f"best_{name}_thresh"] = walk(answers, predictions, values, na_probs)
    return result


def walk(answers, predictions, values, na_probs):
    points = sum(not answers[qid] for qid in values)
    best, where = points, 0.0
    for qid in sorted((qid for qid in na_probs if qid in values), key=na_probs.__getitem__):
        if answers[qid]:
            points += values[qid]
        elif predictions[qid]:
            points -= 1
        if points > best:
            best, where = points, na_probs[qid]
    return 100.0 * best / len(values), where
