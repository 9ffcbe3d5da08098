#!/usr/bin/env bash
# Builds the wheel for one architecture with zig, whatever machine this is. In: x86_64 or aarch64, zig in .venv.
# Out: dist/graphmend-<version>-py3-none-manylinux_2_28_<architecture>.whl, looked into before it is called good.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

arch="${1:?which architecture: x86_64 or aarch64}"
python=.venv/bin/python
zig="$($python -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')"
fresh="build/cross-$arch/wheel"

echo "== wheel for $arch"
rm -rf "$fresh"
$python -m pip wheel . --quiet --no-deps --no-build-isolation --disable-pip-version-check --wheel-dir "$fresh" \
  --config-settings=build-dir="build/cross-$arch" \
  --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/zig.cmake" \
  --config-settings=cmake.define.GRAPHMEND_ZIG="$zig" \
  --config-settings=cmake.define.GRAPHMEND_ZIG_ARCH="$arch"
# scikit-build-core names the machine it runs on; the glibc is the one in cmake/zig.cmake.
mkdir -p dist
tagged="$($python -m wheel tags --remove --platform-tag "manylinux_2_28_$arch" "$fresh"/*.whl)"
mv "$fresh/$tagged" dist/
$python tools/check_wheel.py "dist/$tagged"
