#!/usr/bin/env bash
# Installs the project with each Python from 3.10 to 3.14 and answers questions with it, in environments that are thrown away.
#   bash scripts/try_pythons.sh [--tests] [3.12 ...]      --tests: the test suite, too (installs PyTorch; minutes each)
# A Python that is not on the machine is asked of uv (https://docs.astral.sh/uv), which is taken from the package index where
# it is missing; what neither has is told and left out. Status 1 where a version fails, or none could be tried.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=0
if [ "${1:-}" = --tests ]; then tests=1; shift; fi
versions=("$@")
if [ ${#versions[@]} = 0 ]; then versions=(3.10 3.11 3.12 3.13 3.14); fi

uv=$(command -v uv || true)
if [ -z "$uv" ] && python3 -m venv "$work/uv" && "$work/uv/bin/pip" install --quiet --disable-pip-version-check uv 2>"$work/uv.log"; then
    uv="$work/uv/bin/uv"
fi

find_python() {  # the path of a Python VERSION, or nothing
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1"*/bin/python3; do
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then command -v "$candidate"; return; fi
    done
    [ -n "$uv" ] || return 0
    timeout 300 "$uv" python install --no-bin --quiet --install-dir "$work/pythons" "$1" >"$work/install.log" 2>&1 || return 0
    "$uv" python find "$1" 2>/dev/null || true
}

try() {  # PYTHON VERSION: install, answer, and run the tests where they are wanted; all output goes to a log
    local environment="$work/$2" extra=""
    if [ "$tests" = 1 ]; then extra="[test]"; fi
    export XDG_CACHE_HOME="$environment/cache" CONVINSE_OFFLINE=1
    mkdir -p "$environment/empty" && cd "$environment/empty"
    "$1" -m venv "$environment/venv"
    "$environment/venv/bin/pip" install --disable-pip-version-check --constraint "$root/constraints.txt" "$work/source$extra"
    "$environment/venv/bin/pip" check
    "$environment/venv/bin/convinse" ask "Who directed the film Titanic?" | grep -q 'James Cameron (Q42574)'
    "$environment/venv/bin/convinse" pipeline kb_text_info lexical.yml --limit 2
    if [ "$tests" = 1 ]; then cd "$work/source" && "$environment/venv/bin/python" -m convinse test; fi
}

# a copy: a build leaves files beside the sources
mkdir "$work/source"
tar --create --directory "$root" --exclude ./.git --exclude './.venv*' --exclude ./build --exclude ./dist --exclude ./results . | tar --extract --directory "$work/source"
tried=0
failed=0
for version in "${versions[@]}"; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then printf '%s  skipped: not on this machine, and uv cannot get it\n' "$version"; continue; fi
    tried=$((tried + 1))
    if (set -e; try "$python" "$version") >"$work/$version.log" 2>&1; then
        printf '%s  works: %s\n' "$version" "$("$python" --version)"
    else
        failed=1
        printf '%s  fails; the last lines of its log:\n' "$version"
        tail -n 15 "$work/$version.log"
    fi
    rm -rf "${work:?}/$version"
done
if [ "$tried" = 0 ]; then printf 'no Python could be tried\n' >&2; exit 1; fi
exit "$failed"
