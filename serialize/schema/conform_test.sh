#!/bin/sh
# The current schema only grew since each frozen one: it reads what they wrote.
set -e
folder=serialize/schema

conforms() {  # FROZEN CURRENT
  flatc --conform "$1" "$2" && python3 "$folder/conform.py" "$1" "$2"
}

newest=0
for frozen in "$folder"/frozen/program_v*.fbs; do
  conforms "$frozen" "$folder/program.fbs"
  version=${frozen##*_v} && version=${version%.fbs}
  if [ "$version" -gt "$newest" ]; then newest=$version; fi
done
current=$(sed -n 's/.*kFormatVersion = \([0-9]*\);.*/\1/p' "$folder/artifact_header.h")
if [ "$newest" != "$current" ]; then
  echo "format version $current has no frozen schema: the newest is $newest" >&2
  exit 1
fi

# The check itself bites: no such change conforms to version 1.
changed=$(mktemp -d)
trap 'rm -r "$changed"' EXIT
refuse() {  # WHAT SED_SCRIPT
  sed "$2" "$folder/frozen/program_v1.fbs" > "$changed/program.fbs"
  if cmp -s "$folder/frozen/program_v1.fbs" "$changed/program.fbs"; then
    echo "$1: the example changes nothing" >&2
    exit 1
  fi
  if conforms "$folder/frozen/program_v1.fbs" "$changed/program.fbs" > "$changed/text" 2>&1; then
    echo "$1 was accepted" >&2
    exit 1
  fi
}
refuse "a changed type" 's/scratch_bytes: uint64 (id: 9)/scratch_bytes: string (id: 9)/'
refuse "a changed default" 's/panel: uint32 = 16/panel: uint32 = 8/'
refuse "a field that is gone" '/signature: string (id: 12/d'
refuse "a renamed field" 's/debug_name: string/title: string/'
refuse "a renumbered enum" 's/  gradient = 4, /  gradient = 7, /'
refuse "a reordered union" 's/union Instruction { KernelCall, Copy,/union Instruction { Copy, KernelCall,/'
refuse "a union's member that is gone" 's/, ExternalFunction }/ }/'
refuse "a longer struct" 's/^  lanes: uint16;/  lanes: uint16; more: uint32;/'
refuse "what is required no more" 's/signature: string (id: 12, required)/signature: string (id: 12)/'

# And growth passes.
sed 's/^  output_sizes: .*/&\n  more: uint32 (id: 12);/' "$folder/frozen/program_v1.fbs" > "$changed/program.fbs"
conforms "$folder/frozen/program_v1.fbs" "$changed/program.fbs"
