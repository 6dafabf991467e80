"""How the runtime half is compiled."""

# The core: no exceptions, no run-time types, no guards, so that it needs no C++ library; and no tables for unwinding,
# a tenth of the code, which only exceptions would read; nor frame pointers, which Bazel asks for, 1 to 5 percent.
CORE_COPTS = [
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-asynchronous-unwind-tables",
    "-fomit-frame-pointer",
]

# What runs once a file or once a command: short code matters, its time is that of reading the file.
SMALL_COPTS = CORE_COPTS + ["-Oz"]
