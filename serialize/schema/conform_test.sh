#!/bin/sh
# flatc --conform: tables only grew, ids and types of the frozen schemas are unchanged.
set -e
folder=serialize/schema
checked=0
for frozen in "$folder"/frozen/program_v*.fbs; do
  flatc --conform "$frozen" "$folder/program.fbs"
  checked=$((checked + 1))
done
echo "$checked frozen schemas conform"
test "$checked" -gt 0

# The check itself bites: a schema whose field changed its type does not conform.
changed=$(mktemp -d)
trap 'rm -r "$changed"' EXIT
sed 's/scratch_bytes: uint64 (id: 9)/scratch_bytes: string (id: 9)/' "$folder/program.fbs" > "$changed/program.fbs"
if flatc --conform "$folder/frozen/program_v0.fbs" "$changed/program.fbs"; then
  echo "a changed type was accepted" >&2
  exit 1
fi
