#!/usr/bin/env bash
# Shows the main job: programs whose graphs break, before and after. In: .venv with graphmend. Out: a few minutes' reading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

bold='' plain=''
if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
show() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# Prints a command as the user would type it, then runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

show "a small model with what usually breaks the graph"
sed -n '/def forward/,/return self.second/p' examples/small_model.py

show "mended, without changing a line of it"
run graphmend run examples/small_model.py

show "each place, why it broke, what was done"
printf '$ graphmend explain examples/small_model.py\n'
graphmend explain examples/small_model.py 2>&1 | sed -n '/^examples/,$p'

show "a model of transformers, as the library has it (inductor compiles it three times: a minute or two)"
report="$folder/report.html"
run python examples/transformers_model.py --report "$report"
mkdir -p build && cp "$report" build/demo_report.html
printf '\nthe report as a page: build/demo_report.html\n'
