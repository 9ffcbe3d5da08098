#!/usr/bin/env bash
# Runs test suites of other people's packages, plainly and mended. In: graphmend of this checkout, or the one that
# GRAPHMEND_LIBRARY and PYTHONPATH name. Out: a table, and every test that ended differently; status 1 if one did.
#   pytorch_optimizer compiles its optimizers itself; of nflows, functions that branch on tensors are compiled for it.
#   tools/third_party_suite.sh [forwards|backwards]   the order of the test files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

order="${1:-forwards}"
case "$order" in forwards) sorting=() ;; backwards) sorting=(--reverse) ;; *)
  sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac
checkout="$PWD"
folder="$checkout/build/third_party"
mkdir -p "$folder/packages"
export GRAPHMEND_LIBRARY="${GRAPHMEND_LIBRARY:-$checkout/build/release/libgraphmend.so}"
export PYTHONPATH="${PYTHONPATH:-$checkout/python}:$checkout/tools:$folder/packages"
export OMP_NUM_THREADS=1 PYTHONHASHSEED=0
# A bug may hang; the slower suite takes two to four minutes a run.
limit="${THIRD_PARTY_SECONDS:-1200}"

get_sdist() {
  [[ -d "$folder/$1-$2" ]] && return
  python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$1" --dest "$folder" "$1==$2"
  tar -xzf "$folder/$1-$2.tar.gz" -C "$folder"
}

# run_suite PACKAGE VERSION FILES...: both runs, each in a fresh process, in the package's folder.
status=0 table=""
run_suite() {
  local name="$1" version="$2" run files results="$folder/$1-$order"
  shift 2
  get_sdist "$name" "$version"
  pushd "$folder/$name-$version" >/dev/null
  mapfile -t files < <(find "$@" -name 'test_*.py' -o -name '*_test.py' | LC_ALL=C sort "${sorting[@]}")
  # The package's own options ask for a coverage plugin; tests that fail are compared, not counted as ours.
  for run in plain mended; do
    local command=(python)
    [[ "$run" == mended ]] && command=(python -m graphmend run --report "$results.json")
    echo "== $name $version, $run, $order"
    rm -f "$results-$run.xml"
    timeout "$limit" "${command[@]}" -m pytest -o addopts= -p no:cacheprovider -p no:graphmend "${plugins[@]}" -q \
      --junitxml="$results-$run.xml" --tb=no --disable-warnings "${files[@]}" 2>&1 | tee "$results-$run.log" |
      grep -E '^graphmend: |^[0-9].* in [0-9.]+s' || true
  done
  popd >/dev/null
  local row
  row="$(python tools/third_party_suite.py "$name $version, $order" "$results"-{plain,mended}.xml "$results.json")" || status=1
  table+="$row"$'\n'
}

plugins=()
run_suite pytorch_optimizer 4.1.0 tests

python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder/packages" torchtestcase==2018.2
plugins=(-p third_party_suite)
modules=nonlinearities,splines.linear,splines.quadratic,splines.cubic,splines.rational_quadratic
export THIRD_PARTY_COMPILE="nflows.transforms.${modules//,/,nflows.transforms.}"
run_suite nflows 0.14 tests/transforms/splines tests/transforms/nonlinearities_test.py

printf '\n| suite | plain | mended | different | compiled and called | with a mend | places mended | left | the original ran |\n'
printf '|---|---|---|---|---|---|---|---|---|\n%s' "$table"
exit "$status"
