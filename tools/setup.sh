#!/usr/bin/env bash
# Gets what the Makefile's targets need. In: what this machine has. Out: Debian packages, .venv.
#   tools/setup.sh debian PACKAGE...   installs those packages that are missing; asks for nothing when none is
#   tools/setup.sh venv                makes .venv with torch, transformers and the pinned tools of pyproject.toml
#   tools/setup.sh cross               adds the cross compiler (zig) to .venv
#   tools/setup.sh bench               adds the rivals of the benchmarks to .venv
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '[setup] %s\n' "$*"; }
fail() {
  printf '[setup] %s\n' "$@" >&2
  exit 1
}

is_installed() { [[ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" == *"ok installed" ]]; }

install_debian() {
  local missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian-like machine: please see to these packages, or their like, yourself: $*"
    return
  fi
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  if ((${#missing[@]} == 0)); then return; fi

  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || fail "missing packages, and neither root nor sudo to install them; as root:" \
      "  apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  local install=("${get[@]}" install -y --no-install-recommends "${missing[@]}")
  local log
  log="$(mktemp)"
  # The first try spares machines with fresh package lists the update.
  if ! "${install[@]}" </dev/null >"$log" 2>&1 &&
    ! { "${get[@]}" update </dev/null >"$log" 2>&1 && "${install[@]}" </dev/null >>"$log" 2>&1; }; then
    cat "$log" >&2
    fail "apt-get could not install the packages above; once they are there, run make again:" \
      "  apt-get install ${missing[*]}"
  fi
  rm -f "$log"
}

# Python 3.10 or newer that can make virtual environments.
is_good_python() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.{14,13,12,11,10} /usr/bin/python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[0-9]*/bin/python3; do
    if [[ -n "$candidate" ]] && is_good_python "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

make_venv() {
  local folder="$1" python
  if [[ -x "$folder/bin/python" ]] && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  if ! find_python >/dev/null; then install_debian python3 python3-venv; fi
  python="$(find_python)" || fail "no Python 3.10 or newer with venv; install one, or name it: make PYTHON=/path/to/python3"
  say "making $folder with $("$python" --version)"
  rm -rf "$folder"
  "$python" -m venv "$folder"
}

pip_install() {
  local folder="$1"
  shift
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" </dev/null
}

case "${1:-}" in
  debian)
    shift
    install_debian "$@"
    ;;
  venv)
    make_venv .venv
    say "installing the pinned tools into .venv"
    # Dependency groups need pip 25.1.
    pip_install .venv 'pip==25.3'
    # First and by itself: another package that asks for torch would get any version of it, with its gigabytes of CUDA.
    say "installing torch 2.13.0 into .venv (a large download)"
    pip_install .venv 'torch==2.13.0'
    pip_install .venv --group dev --group models
    ;;
  cross)
    say "installing zig into .venv"
    pip_install .venv --group cross
    ;;
  bench)
    say "installing the rivals of the benchmarks into .venv"
    pip_install .venv --group bench
    ;;
  *)
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
