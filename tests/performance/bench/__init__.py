"""Ferrule beside other systems on the same machine, in one run: `./dev bench infer | train | kernels | ...`.

Each system runs in a process of its own, in its own Python environment, on pinned cores; the processes take turns in
short slices, so that a change of the machine's clock meets all of them. A number is the median over all slices.
"""
