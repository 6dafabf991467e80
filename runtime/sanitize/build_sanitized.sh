#!/bin/bash
# build_sanitized.sh CLANG GENERATED SANITIZERS PROGRAM FLAGS SOURCES...: one program out of all C++ sources, each
# compiled for the sanitizers. FLAGS: what the linker gets besides, commas between them, or "none".
set -euo pipefail
clang=$1 generated=$2 sanitizers=$3 program=$4 flags=$5
shift 5
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT
linked=()
for source in "$@"; do
  case $source in *.cpp) ;; *) continue ;; esac
  object=$objects/${source//\//_}.o
  "$clang" -x c++ -std=c++17 -O1 -g1 -fno-omit-frame-pointer -ffp-contract=off "-fsanitize=$sanitizers" \
    -fno-sanitize-recover=all "-DFLATBUFFERS_ASSERT(x)=((void)0)" -I. -I"$generated" -c "$source" -o "$object"
  linked+=("$object")
done
[ "$flags" = none ] && flags= || flags=-Wl,$flags
"$clang" --driver-mode=g++ -g1 "-fsanitize=$sanitizers" ${flags:+"$flags"} "${linked[@]}" -lpthread -o "$program"
