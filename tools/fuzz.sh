#!/usr/bin/env bash
# Runs every fuzzer of build/fuzz one after the other. In: seconds for each. Out: build/fuzz/findings, status 1 if any.
# New inputs stay in build/fuzz/corpus; the small committed corpora in fuzz/corpus are read and never written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:-600}"
findings=build/fuzz/findings
mkdir -p "$findings"
status=0
for fuzzer in build/fuzz/fuzz_*; do
  [[ -f "$fuzzer" && -x "$fuzzer" ]] || continue
  name="$(basename "$fuzzer")"
  name="${name#fuzz_}"
  grown="build/fuzz/corpus/$name"
  mkdir -p "$grown"
  seeds=()
  [[ -d "fuzz/corpus/$name" ]] && seeds=("fuzz/corpus/$name")
  echo "== fuzz $name, $seconds seconds"
  # 8 KiB hold every nesting limit (100 indents take five); longer inputs are slower.
  if ! "$fuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$findings/$name-" -dict=fuzz/python.dict "$grown" "${seeds[@]}" </dev/null 2>&1 |
    grep -v -e '# Uses:' -e 'ecommended dictionary'; then
    echo "fuzz $name: finding in $findings" >&2
    status=1
  fi
done
exit $status
