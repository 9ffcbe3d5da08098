#!/usr/bin/env bash
# Shows what graphmend does today: it reads Python, exactly. In: the command in .venv. Out: a minute's reading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

bold='' plain=''
if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
show() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# Prints a command as the user would type it, then runs it; syntax errors are part of the show.
run() {
  printf '$ %s\n' "$*"
  (cd "$folder" && "$@") || true
}

cat >"$folder/model.py" <<'PYTHON'
def forward(self, x: Tensor) -> Tensor:
    if x.sum() > 0:  # a branch on a tensor's value
        print(f"{x.mean()=:.3f}")
    return self.layers[-1](x)
PYTHON

show "a program"
cat "$folder/model.py"

show "its tree, with the range of every node"
run graphmend dump tree model.py

show "the tree as CPython 3.13's ast.dump prints it (the first characters)"
run graphmend dump ast model.py | cut -c 1-400

show "several syntax errors in one file, each where it is"
cat >"$folder/broken.py" <<'PYTHON'
def area(width, height:
    return width * height

for line in report
    print(line)

total = sum([area(2, 3), area(4, 5)
print(total)
PYTHON
run graphmend parse broken.py

show "syntax that is newer than the Python you support"
cat >"$folder/newer.py" <<'PYTHON'
match command.split():
    case ["go", direction]:
        type Path = list[str]
PYTHON
run graphmend parse --target-version 3.9 newer.py

show "the same from Python"
cat >"$folder/names.py" <<'PYTHON'
import graphmend

tree = graphmend.parse("y = f(x)[0]")
print([node.kind for node in tree.walk()])
print(*graphmend.parse("x = [1, 2").errors)
PYTHON
cat "$folder/names.py"
run python names.py

show "the standard library of $(python --version); its tests hold some wrong files on purpose"
library="$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
bytes="$(find "$library" -name '*.py' -not -path '*/site-packages/*' -print0 | xargs -0 cat | wc -c)"
printf '%s MB of Python below %s\n' "$((bytes / 1000000))" "$library"
TIMEFORMAT='%R seconds, %U of processor time'
time graphmend parse --output-format concise "$library" 2>&1 | tail -n 1 || true
