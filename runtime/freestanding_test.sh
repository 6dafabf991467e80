#!/bin/sh
# The runtime core needs no C++ library: its undefined symbols are its own and the C library's.
set -e
found=0
for archive in "$@"; do
  nm --undefined-only --demangle "$archive" >symbols.txt
  if grep -E 'std::|__cxa|__gxx|operator (new|delete)|__gnu_cxx|vtable for|_Unwind|__assert_fail' symbols.txt; then
    echo "$archive needs the C++ library" >&2
    exit 1
  fi
  grep -q memcpy symbols.txt && found=$((found + 1))
done
echo "$found archives looked at"
test "$#" -gt 0 -a "$found" -gt 0 # nm read them: most of them copy memory
