#!/usr/bin/env bash
# The one door: prepares .venv beside this file when needed, then runs the convinse command.
#   bash run.sh COMMAND [ARGUMENT ...]
# CONVINSE_EXTRAS=neural adds PyTorch: any Hugging Face checkpoint, a GPU (`train`, `export` and `test` add it by themselves).
# CONVINSE_NO_VENV=1 uses the Python environment as it is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CONVINSE_ROOT="$root"
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"  # threads share one heap: with more, a server grows

fail() { printf 'run.sh: %s\n' "$1" >&2; exit 1; }
recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }

# not `-m convinse`: a convinse.py or json.py in the working folder would be run in place of the real one
start='import os, sys
sys.path[:] = [path for path in sys.path if path] + [os.environ["CONVINSE_ROOT"]]
from convinse.cli import main
sys.exit(main())'

find_python() {
    local candidate
    for candidate in "${CONVINSE_PYTHON:-}" python3 python python3.14 python3.13 python3.12 python3.11 python3.10; do
        if [ -n "$candidate" ] && recent "$candidate"; then printf '%s' "$candidate"; return; fi
    done
    fail "no Python 3.10 or newer found; install one, or name it in CONVINSE_PYTHON"
}

if [ "${CONVINSE_NO_VENV:-0}" = 1 ]; then
    python=$(find_python)
    exec "$python" -c "$start" "$@"
fi

extras=${CONVINSE_EXTRAS:-}
case " ${1:-} " in
    " test " | " docs ") extras="${extras:+$extras,}$1" ;;
    " train ") extras="${extras:+$extras,}neural,ir" ;;
    " export ") extras="${extras:+$extras,}neural" ;;
    " bench ")
        extras="${extras:+$extras,}bench"
        case " ${2:-} " in
            " rerank " | " read ") extras="$extras,neural" ;;
            " model ") extras="$extras,neural,ir" ;;
            " answering " | " live " | " results ") extras="$extras,ir" ;;
        esac ;;
    " report ")
        case "${2:-}" in "" | -*) ;; *) [ -e "$2" ] || fail "$2: no such folder; give one that \`pipeline\` wrote" ;; esac
        extras="${extras:+$extras,}ir,plots" ;;
    " completion ") extras="${extras:+$extras,}completion" ;;
    " serve ") case " ${2:-} " in " mcp ") extras="${extras:+$extras,}mcp" ;; esac ;;
    " evaluate ") case " ${2:-} " in " poleval " | " compare ") extras="${extras:+$extras,}ir" ;; esac ;;
esac
venv="$root/.venv"
wanted=$(cat "$root/setup.cfg" "$root/pyproject.toml" "$root/constraints.txt" | cksum)
# the stamp of an extra (and of "base") holds what was installed; the extra test has neural, ir and bench in it, clients has mcp
stamped() { [ -f "$venv/.convinse-stamp-$1" ] && [ "$(<"$venv/.convinse-stamp-$1")" = "$wanted" ]; }
ready() {
    local extra
    [ -x "$venv/bin/python" ] && stamped base || return 1
    for extra in ${extras//,/ }; do
        stamped "$extra" || { case "$extra" in neural | ir | bench) stamped test ;; mcp) stamped clients ;; *) false ;; esac; } || return 1
    done
}

if ! ready; then
    # one set-up at a time; a second caller waits here and then finds the stamp
    exec 9>"$root/.venv.lock"
    if command -v flock >/dev/null 2>&1; then flock 9; fi
    if ! ready; then
        printf 'run.sh: preparing %s (once; half a minute, with PyTorch two)\n' "$venv" >&2
        if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
            python=$(find_python)
            "$python" -m venv --clear "$venv" >&2 || "$python" -m virtualenv --clear "$venv" >&2 \
                || fail "cannot create $venv; install the venv module of $python (Debian: apt-get install python3-venv)"
        fi
        log="$venv/install.log"
        if ! "$venv/bin/python" -m pip install --no-compile --disable-pip-version-check \
            --constraint "$root/constraints.txt" --editable "$root${extras:+[$extras]}" >"$log" 2>&1; then
            tail -n 5 "$log" >&2
            fail "installing the dependencies failed (see $log); is a package index reachable?"
        fi
        # modules are compiled when they are first used, 60 MB less on disk; but tests start many processes at once. All cores
        # compile, where pip would take one
        [ -z "$extras" ] || "$venv/bin/python" -m compileall -q -j 0 -x '/tests?/' "$venv/lib" >>"$log" 2>&1 || true
        for extra in base ${extras//,/ }; do printf '%s\n' "$wanted" >"$venv/.convinse-stamp-$extra"; done
    fi
    exec 9>&-
fi
exec "$venv/bin/python" -c "$start" "$@"
