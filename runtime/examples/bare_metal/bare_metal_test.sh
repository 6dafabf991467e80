#!/bin/bash
# bare_metal_test.sh ARTIFACT: builds the runtime without an operating system, links the example with the artifact and its
# kernels, and runs it. The test program trains w = 1, 2, 3, 4 on x = 0, 1, 2, 3: the loss is the sum of 2 x + w, then
# w += x, and the prediction is 2 x + w.
set -euo pipefail
artifact=$PWD/$1
work=${TEST_TMPDIR:-$(mktemp -d)}
mkdir -p "$work/source"
cp -RL runtime serialize kernels "$work/source/"
cmake -S "$work/source/runtime" -B "$work/build" -DFERRULE_BARE_METAL=ON -DCMAKE_BUILD_TYPE=MinSizeRel \
  >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" -j2 >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
library=$work/build/libferrule_runtime.a

# Nothing is asked of a system but memory and the formatting of sentences.
if nm -u "$library" | grep -E ' (pthread_|sched_|sig|f?open|close$|p?read$|write|mmap|munmap|mprotect|madvise|fork|getpid|clock_|sysconf|stat|fstat|rename|unlink|fsync|flock|usleep)'; then
  echo "the library asks for more than memory"
  exit 1
fi

cd "$work"
cp "$artifact" artifact.fer
ld -r -b binary -z noexecstack artifact.fer -o artifact.o
cc -O2 -mavx2 -ffp-contract=off -Isource -c source/runtime/testing/test_kernels.c -o kernels.o
cc -O2 -Wall -Wextra -Isource source/runtime/examples/bare_metal/{predict,static_memory}.c artifact.o kernels.o "$library" -o predict
actual=$(./predict) || { echo "$actual"; exit 1; }
echo "$actual"
[[ "$actual" == "loss 22, then 1 5 9 13, in "*" bytes" ]] || { echo "expected: loss 22, then 1 5 9 13"; exit 1; }
