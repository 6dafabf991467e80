#!/bin/bash
# fuzz_test.sh NAME SECONDS WRITE_SEEDS FUZZER: fuzzes from the seeds; every run, and every shard of it, takes other inputs.
# What makes it fail is kept with the test's outputs; run the fuzzer on that file to see it again.
set -euo pipefail
name=$1 seconds=$2 write_seeds=$3 fuzzer=$4
corpus=${TEST_TMPDIR:-$(mktemp -d)}/$name
found=${TEST_UNDECLARED_OUTPUTS_DIR:-$corpus}
mkdir -p "$corpus"
if [ -n "${TEST_SHARD_STATUS_FILE:-}" ]; then touch "$TEST_SHARD_STATUS_FILE"; fi
"$write_seeds" "$name" "$corpus"
log=$corpus.log
if ! "$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -use_value_profile=1 -print_final_stats=1 \
  -artifact_prefix="$found/" "$corpus" >"$log" 2>&1; then
  tail -n 60 "$log"
  exit 1
fi
executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
echo "$name: $executed inputs in $seconds s"
# A fuzzer that stops at once has found nothing because it has not looked.
[ "$executed" -ge 200 ]
