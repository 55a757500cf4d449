#!/usr/bin/env bash
# A teacher and both readers in nine minutes on a GPU of any kind; docs/train-embedded.md.
#
#   gpu.sh pack DATA WHEELS PARCEL    here: the examples as tokens and what the trainings begin with, in pieces of 15 MB
#   gpu.sh run BACK PARCEL...         there: the trainings, then bench rerank; what was learned, in pieces
#   gpu.sh finish MODELS BACK...      here: what came back, joined, checked and with graphs
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
python=${CONVINSE_PYTHON:-python}
export PYTHONPATH=$root:$root/scripts
MOST=15M # of a piece: some machines take no larger file

pieces() { # pieces FOLDER WITHIN NAME...: files of a folder, packed in pieces with their sums
    local folder=$1 within=$2
    shift 2
    mkdir -p "$folder"
    tar --create --xz --directory "$within" "$@" | split --bytes "$MOST" --numeric-suffixes --suffix-length 3 - "$folder/piece."
    (cd "$folder" && sha256sum piece.* > sums)
}

join() { # join FOLDER PIECES...: the files of all pieces, which may have come in several folders
    local folder=$1 all
    shift
    all=$(mktemp -d)
    for part in "$@"; do cp "$part"/* "$all"; done
    (cd "$all" && sha256sum --check --quiet sums) || { echo "gpu: a piece is missing or damaged; fetch it again" >&2; exit 1; }
    mkdir -p "$folder"
    cat "$all"/piece.* | tar --extract --xz --directory "$folder"
    rm -r "$all"
}

train() { "$python" -m convinse train embedded --config "${CONFIG:-model/gpu.yml}" --data . --prepared "$work/examples" "$@"; }

case ${1:-} in
pack)
    work=$(mktemp -d)
    "$python" -m recipes.embedded.mpnet --wheels "$3" --output "$work/mpnet"
    "$python" -m convinse train embedded --config model/gpu.yml --base "$root/convinse/snapshot/model" --data "$2" --prepared "$work/examples"
    pieces "$4" "$work" mpnet examples
    ;;
run)
    back=$2 work=$(mktemp -d)
    join "$work" "${@:3}"
    train --base "$work/mpnet" --output "$work/teacher" --set minutes=3.6 --set learning_rate=7.0e-5 --set embedding_every=1000000
    train --base "$work/teacher" --output "$work/reader" --set "reader=$work/teacher" --set 'layers=[0, 2, 4, 6, 8, 10]' \
        --set minutes=2.9 --set embedding_every=1000000
    train --base "$root/convinse/snapshot/model" --output "$work/model" --set "reader=$work/teacher" --set minutes=1.6 --set learning_rate=1.5e-4
    pieces "$back" "$work" reader model
    "$python" -m convinse bench rerank --output "$back/rerank.json"
    ;;
finish)
    join "$2" "${@:3}"
    for name in reader model; do "$python" -m convinse export "$2/$name" --to onnx --output "$2/$name-graphs"; done
    ;;
pieces | join) "$@" ;; # as the tests call them
*)
    sed -n 's/^#   //p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
