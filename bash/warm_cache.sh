#!/usr/bin/env bash
# Fill the cache with all sources of the train, dev and test conversations, so that later runs only read it.
#   bash bash/warm_cache.sh [CONFIG]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in train dev test; do
    bash "$root/run.sh" pipeline kb_text_table_info "${1:-config.yml}" --part "$part" --quiet
done
