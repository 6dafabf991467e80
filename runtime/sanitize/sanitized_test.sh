#!/bin/bash
# sanitized_test.sh PROGRAM FAULT REPORT: the program is clean; told to make a fault, it is reported, so that a
# sanitizer which sees nothing is no success.
set -euo pipefail
program=$1 fault=$2 report=$3
"$program"
if output=$("$program" "$fault" 2>&1); then
  echo "$fault was not found"
  exit 1
fi
grep -q "$report" <<<"$output" || { echo "$output"; exit 1; }
