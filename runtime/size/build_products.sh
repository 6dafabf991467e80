#!/bin/bash
# build_products.sh CLANG LLD GENERATED product.c nothing.c FOLDER SOURCES...: links both programs, stripped, in FOLDER.
set -euo pipefail
clang=$1 lld=$2 generated=$3 product=$4 nothing=$5 folder=$6
shift 6
compile=("$clang" -Oz -ffp-contract=off -fPIE -fvisibility=hidden -ffunction-sections -fdata-sections
  -fno-asynchronous-unwind-tables -I. -I"$generated")
cxx=(-std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics "-DFLATBUFFERS_ASSERT(x)=((void)0)")
link=("$clang" --ld-path="$lld" -pie -s -Wl,--gc-sections,--icf=all,-O2,-z,noseparate-code -lpthread)
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT
for source in "$@"; do
  case $source in
    *.cpp) "${compile[@]}" "${cxx[@]}" -c "$source" -o "$objects/${source//\//_}.o" ;;
  esac
done
"${compile[@]}" "$product" "$objects"/*.o "${link[@]}" -o "$folder/product"
"${compile[@]}" "$nothing" "${link[@]}" -o "$folder/nothing"
