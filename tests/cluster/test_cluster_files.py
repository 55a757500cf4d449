"""The files that start clusters: the SLURM job, and the manifest for Kubernetes."""

import os
import subprocess
import time
from pathlib import Path

import jsonschema_rs
import yaml

from places import ROOT
from written import write

FAKE = '#!/bin/sh\necho "{name} $*" "$RAY_ADDRESS" >> "$LOG"\n{then}\n'


def test_a_slurm_job_starts_a_head_and_the_others_and_runs_the_command(workdir):
    """SLURM's programs are stand-ins that write down how they are called."""
    programs = {
        "bin/srun": 'while case $1 in --*) true;; *) false;; esac; do shift; done; "$@"',
        "bin/scontrol": "printf 'node1\\nnode2\\nnode3\\n'",
        "bin/ray": "",
        "run.sh": "",
    }
    for name, then in programs.items():
        write(name, FAKE.format(name=Path(name).name, then=then)).chmod(0o755)
    log = workdir / "log"
    slurm = {
        "JOB_ID": "10042",
        "JOB_NODELIST": "node[1-3]",
        "NNODES": "3",
        "CPUS_PER_TASK": "8",
        "SUBMIT_DIR": str(workdir),
    }
    own = {
        "LOG": str(log),
        "PATH": f"{workdir / 'bin'}:{os.environ['PATH']}",
        "CONVINSE_RAY": str(workdir / "bin" / "ray"),
    }
    environment = {**os.environ, **own, **{f"SLURM_{name}": value for name, value in slurm.items()}}
    line = ["bash", str(ROOT / "bash" / "slurm_ray.sh"), "pipeline", "--all-sources", "own.yml"]
    subprocess.run(line, check=True, env=environment, timeout=60)
    address = "node1:20042"
    common = f"--num-cpus=8 --disable-usage-stats --block {address}"
    wanted = {
        f"run.sh pipeline --all-sources own.yml --on ray {address}",
        f"ray start --head --port=20042 --include-dashboard=false {common}",
        f"ray start --address={address} {common}",
    }
    end = time.monotonic() + 60
    while wanted - set(log.read_text().splitlines()) and time.monotonic() < end:
        time.sleep(0.02)  # the nodes are started beside the command
    told = log.read_text().splitlines()
    assert wanted <= set(told)
    assert sum(call.startswith("srun --nodes=1 --ntasks=1 --overlap --nodelist=node1 ") for call in told) == 1
    assert sum(call.startswith("srun --nodes=2 --ntasks=2 --overlap --exclude=node1 ") for call in told) == 1


def part(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


TEXT, COUNT, TEXTS = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": "object", "additionalProperties": {"type": "string"}},
)
SECRET = part(["secretKeyRef"], secretKeyRef=part(["name", "key"], name=TEXT, key=TEXT))
CONTAINER = part(
    ["name", "image"],
    name={"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, image=TEXT,
    env={"type": "array", "items": part(["name"], name=TEXT, value=TEXT, valueFrom=SECRET)},
    ports={"type": "array", "items": part(["containerPort"], containerPort=COUNT, name={"type": "string", "maxLength": 15})},
    resources=part([], requests=TEXTS, limits=TEXTS),
    volumeMounts={"type": "array", "items": part(["name", "mountPath"], name=TEXT, mountPath=TEXT)},
)  # fmt: skip
CLAIM = part(["claimName"], claimName=TEXT)
VOLUME = part(["name"], name=TEXT, persistentVolumeClaim=CLAIM)
POD = part(
    ["containers"],
    containers={"type": "array", "items": CONTAINER, "minItems": 1},
    volumes={"type": "array", "items": VOLUME},
)
GROUP = {"rayStartParams": TEXTS, "template": part(["spec"], spec=POD)}
WORKERS = part(
    ["groupName", "rayStartParams", "minReplicas", "maxReplicas", "template"],
    groupName=TEXT, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT, **GROUP,
)  # fmt: skip
# of KubeRay's RayCluster (ray.io/v1) what the manifest uses, with its names, types and what must be there
RAY_CLUSTER = part(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "ray.io/v1"}, kind={"const": "RayCluster"}, metadata=part(["name"], name=TEXT),
    spec=part(
        ["headGroupSpec"],
        rayVersion=TEXT, headGroupSpec=part(["rayStartParams", "template"], **GROUP), workerGroupSpecs={"type": "array", "items": WORKERS},
    ),
)  # fmt: skip


def test_the_manifest_is_one_of_kuberay():
    manifest = yaml.safe_load((ROOT / "docs" / "kuberay.yml").read_text())
    faults = [error.message for error in jsonschema_rs.Draft202012Validator(RAY_CLUSTER).iter_errors(manifest)]
    assert faults == []
    head, workers = manifest["spec"]["headGroupSpec"], manifest["spec"]["workerGroupSpecs"]
    for pod in (group["template"]["spec"] for group in (head, *workers)):
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]} <= volumes
    assert f"ray=={manifest['spec']['rayVersion']}\n" in (ROOT / "constraints.txt").read_text()
