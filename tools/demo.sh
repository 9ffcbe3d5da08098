#!/usr/bin/env bash
# Shows what graphmend does today: it reads Python, exactly. In: the command in .venv. Out: a minute's reading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

show() { printf '\n\033[1m%s\033[0m\n' "$1"; }
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

total = sum([area(2, 3), area(4, 5)
for line in report
    print(line)
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
run python -c 'import graphmend; print(graphmend.__version__, graphmend.parse("x = [1, 2")) '

show "the standard library of $(python --version)"
library="$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
bytes="$(find "$library" -name '*.py' -not -path '*/site-packages/*' -not -path '*/test/*' -print0 |
  xargs -0 cat | wc -c)"
printf '%s MB of Python below %s\n' "$((bytes / 1000000))" "$library"
time graphmend parse --quiet "$library" || true
