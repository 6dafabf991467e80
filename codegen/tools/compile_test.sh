#!/bin/bash
# compile_test.sh FERRULE_COMPILE: a graph in text form becomes an artifact; the times and the errors that it prints.
set -euo pipefail
compile=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

fail() {
  echo "$1"
  exit 1
}

cat > "$folder/double.mlir" <<'END'
func.func @main(%x: tensor<4xf32> {ferrule.name = "x"}) -> (tensor<4xf32> {ferrule.name = "out"}) {
  %0 = ferrule.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
END
"$compile" "$folder/double.mlir" -o "$folder/double.fer" --time-passes > "$folder/times" 2> "$folder/errors"
[ "$(head -c 4 "$folder/double.fer" | tail -c 3)" = FER ] || fail "no artifact"
for phase in passes passes.fuse plan kernels code code.emit; do
  grep -q "  $phase\$" "$folder/times" || fail "no time of $phase: $(cat "$folder/times")"
done
[ ! -s "$folder/errors" ] || fail "LLVM's own report: $(cat "$folder/errors")"

! "$compile" "$folder/double.mlir" -o "$folder/none.fer" --target=pdp-11 2> "$folder/errors" || fail "no error"
grep -q "unknown target 'pdp-11'; allowed: host" "$folder/errors" || fail "$(cat "$folder/errors")"
[ ! -e "$folder/none.fer" ] || fail "an artifact in spite of an error"

# An object and its header; the kernels are functions in it.
"$compile" "$folder/double.mlir" -o "$folder/double.o" --emit=object --target=aarch64
nm "$folder/double.o" > "$folder/symbols"
for symbol in double_artifact double_artifact_size double_kernels double_kernel_count; do
  grep -q " $symbol\$" "$folder/symbols" || fail "no $symbol in $(cat "$folder/symbols")"
done
grep -q "FerruleStatus\* double_open(" "$folder/double.h" || fail "no double_open in $(cat "$folder/double.h")"
! "$compile" "$folder/double.mlir" -o "$folder/two.o" --emit=object --target=aarch64,x86-64-v3 2> "$folder/errors" || fail "no error"
grep -q "an object has code for one target, not 2" "$folder/errors" || fail "$(cat "$folder/errors")"
! "$compile" "$folder/double.mlir" -o "$folder/2.o" --emit=object --target=aarch64 2> "$folder/errors" || fail "no error"
grep -q "must be an identifier, not '2'" "$folder/errors" || fail "$(cat "$folder/errors")"
