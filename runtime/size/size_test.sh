#!/bin/bash
# size_test.sh PRODUCT NOTHING FERRULE_RUN: the promises of docs/size.md, in bytes.
set -euo pipefail
product=$1 nothing=$2 tool=$3
failed=0

check() {  # NAME BYTES LIMIT
  echo "$1: $2 bytes, at most $3"
  if [ "$2" -gt "$3" ]; then failed=1; fi
}

core=$(($(stat -Lc %s "$product") - $(stat -Lc %s "$nothing")))
check "the core in a product" $core 102400
# A core that the linker threw away would pass.
[ $core -gt 50000 ] || { echo "the product does not hold the runtime"; failed=1; }
if readelf -d "$product" | grep -q 'libstdc++\|libgcc_s'; then
  echo "the product needs a C++ library"
  failed=1
fi
stripped=$(mktemp)
trap 'rm "$stripped"' EXIT
strip -o "$stripped" "$tool"
check "ferrule-run, stripped" "$(stat -c %s "$stripped")" 307200
exit $failed
