#!/bin/sh
# Runs lit on the files given, inside a Bazel test: run_lit.sh FERRULE_OPT FILE...
ferrule_opt=$1
shift
exec python3 /usr/lib/llvm-22/bin/lit -v --param "ferrule_opt=$ferrule_opt" "$@"
