#!/usr/bin/env bash
# Every combination of sources of a configuration, one after the other.
#   bash bash/all_sources.sh [CONFIG] [OPTION ...]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
config=${1:-config.yml}
if [ $# -gt 0 ]; then shift; fi
exec bash "$root/run.sh" pipeline --all-sources "$config" "$@"
