import re

from convinse.serving.service_metrics import ServiceMetrics

_SAMPLE = re.compile(r'convinse_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+')


def test_the_text_is_that_of_prometheus():
    metrics = ServiceMetrics()
    metrics.request("/v1/conversations/{id}", "GET", 200)
    for seconds in (0.04, 0.2, 70.0):
        metrics.turn("answered", seconds)
    metrics.turn("given_up", 0.05)
    metrics.batch(3)
    metrics.stages({"qu": 0.5})
    lines = metrics.text(conversations=2, waiting=1).split("\n")
    assert lines.pop() == ""
    samples = [line for line in lines if not line.startswith("# ")]
    assert not [line for line in samples if not _SAMPLE.fullmatch(line)]
    assert {
        'convinse_requests_total{path="/v1/conversations/{id}",method="GET",status="200"} 1',
        'convinse_turns_total{outcome="answered"} 3',
        'convinse_turn_seconds_bucket{le="0.05"} 2',
        'convinse_turn_seconds_bucket{le="0.1"} 2',
        'convinse_turn_seconds_bucket{le="60"} 3',
        'convinse_turn_seconds_bucket{le="+Inf"} 4',
        "convinse_turn_seconds_count 4",
        'convinse_stage_seconds_total{stage="qu"} 0.5',
        "convinse_batched_turns_total 3",
        "convinse_conversations 2",
        "convinse_waiting 1",
    } <= set(samples)
    typed = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(typed) == len(set(typed)) == len([line for line in lines if line.startswith("# HELP")])
