#!/bin/bash
# The runtime core needs no C++ library: none of its archives asks for a symbol of libstdc++ or of C++'s support library.
set -u
status=0
archives=0
for archive in "$@"; do
  case $archive in
    *.pic.a | *.so) continue ;;
    *.a) archives=$((archives + 1)) ;;
    *) continue ;;
  esac
  # Operator new and delete, the standard library, guards, personality, pure virtual calls, run-time types.
  wanted=$(nm --undefined-only "$archive" |
    grep -E ' U (_Zn[wa]|_Zd[la]|_ZSt|_ZNSt|_ZNKSt|__cxa_|__gxx_personality|_ZT[VIS])' | sort -u)
  if [ -n "$wanted" ]; then
    printf '%s needs libstdc++:\n%s\n' "$archive" "$wanted"
    status=1
  fi
done
if [ "$archives" -eq 0 ]; then
  echo "no archives were given"
  status=1
fi
exit $status
