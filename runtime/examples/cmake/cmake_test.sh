#!/bin/bash
# cmake_test.sh ARTIFACT ENCRYPTED KEY: builds and installs the runtime with CMake, static and shared, then the examples by
# find_package and by pkg-config, and runs it. predict is 2 x + w with w = 1, 2, 3, 4.
set -euo pipefail
artifact=$PWD/$1 encrypted=$PWD/$2 key=$PWD/$3
work=${TEST_TMPDIR:-$(mktemp -d)}
# Bazel's files are links; CMake wants a tree.
mkdir -p "$work/source"
cp -RL runtime serialize kernels "$work/source/"
expected="1 4 7 10"

check() {  # PROGRAM ARGUMENT...
  actual=$("$1" "${@:2}")
  if [ "$actual" != "$expected" ]; then
    echo "$1 printed '$actual', but must print '$expected'"
    exit 1
  fi
}

for shared in OFF ON; do
  prefix=$work/installed-$shared
  cmake -S "$work/source/runtime" -B "$work/build-$shared" -DBUILD_SHARED_LIBS=$shared -DFERRULE_ENCRYPTION=ON -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=MinSizeRel >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  { cmake --build "$work/build-$shared" -j2 && cmake --install "$work/build-$shared"; } >"$work/log" 2>&1 ||
    { tail -40 "$work/log"; exit 1; }
  cmake -S "$work/source/runtime/examples/cmake" -B "$work/product-$shared" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
  cmake --build "$work/product-$shared" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  check "$work/product-$shared/predict_c" "$artifact"
  check "$work/product-$shared/predict_cpp" "$artifact"
  check "$work/product-$shared/predict_encrypted" "$encrypted" "$key"
  if readelf -d "$work/product-$shared/predict_c" | grep -q 'libstdc++'; then
    echo "the C program needs libstdc++"
    exit 1
  fi
done

# Only the C API is visible in the shared library.
if nm -D --defined-only "$work/installed-ON/lib/libferrule_runtime.so" | grep -v ' ferrule_\| _init\| _fini'; then
  echo "the shared library shows more than the C API"
  exit 1
fi
export PKG_CONFIG_PATH=$work/installed-OFF/lib/pkgconfig
# shellcheck disable=SC2046
cc $(pkg-config --cflags ferrule) runtime/examples/cmake/predict.c $(pkg-config --libs ferrule) -o "$work/predict_by_flags"
check "$work/predict_by_flags" "$artifact"
echo "static, shared and by flags: $expected"
