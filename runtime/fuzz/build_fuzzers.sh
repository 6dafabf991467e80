#!/bin/bash
# build_fuzzers.sh CLANG GENERATED FOLDER SOURCES...: one program a *_fuzzer.cpp in FOLDER, everything compiled for
# AddressSanitizer, UBSan and libFuzzer's coverage.
set -euo pipefail
clang=$1 generated=$2 folder=$3
shift 3
compile=("$clang" -x c++ -std=c++17 -O1 -g1 -fno-omit-frame-pointer -ffp-contract=off
  -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all "-DFLATBUFFERS_ASSERT(x)=((void)0)"
  -I. -I"$generated")
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT
fuzzers=()
common=()
for source in "$@"; do
  object=$objects/${source//\//_}.o
  case $source in
    *_fuzzer.cpp) fuzzers+=("$source") ;;
    *write_seeds.cpp) ;;
    *.cpp) common+=("$object") ;;
    *) continue ;;
  esac
  "${compile[@]}" -c "$source" -o "$object"
done
link=("$clang" --driver-mode=g++ -g1 -fsanitize=address,undefined)
for source in "${fuzzers[@]}"; do
  "${link[@]}" -fsanitize=fuzzer "$objects/${source//\//_}.o" "${common[@]}" -lpthread \
    -o "$folder/$(basename "$source" .cpp)"
done
"${link[@]}" "$objects"/*write_seeds.cpp.o "${common[@]}" -fsanitize=fuzzer-no-link -lpthread -o "$folder/write_seeds"
