"""The list of operations that `./dev bench kernels` measures, and how their work is counted."""

import numpy as np
import pytest
from bench import kernel_jobs, kernels


def convolution(size, channels_in, channels_out, kernel, stride=1, groups=1):
    return {
        "kind": "convolution", "size": size, "in": channels_in, "out": channels_out,
        "kernel": kernel, "stride": stride, "groups": groups,
    }  # fmt: skip


def test_a_matmul_counts_a_multiply_and_an_add_for_each_element():
    assert kernel_jobs.operations({"kind": "matmul", "m": 2, "n": 3, "k": 5}) == 60


def test_padding_is_no_work():
    # 3x3 on 4x4: along an axis the outputs see 2, 3, 3 and 2 inputs, 10 together; 10 * 10 taps, 2 to 7 channels.
    assert kernel_jobs.operations(convolution(4, 2, 7, 3)) == 2 * 100 * 2 * 7
    # Stride 2: outputs 0 and 1 stand at inputs -1 and 1 and see 2 and 3.
    assert kernel_jobs.operations(convolution(4, 2, 7, 3, stride=2)) == 2 * 25 * 2 * 7
    # Each channel by itself.
    assert kernel_jobs.operations(convolution(4, 6, 6, 3, groups=6)) == 2 * 100 * 6


def test_a_1x1_convolution_is_a_matmul():
    assert kernel_jobs.operations(convolution(14, 1024, 256, 1)) == kernel_jobs.operations(
        {"kind": "matmul", "m": 14 * 14, "n": 256, "k": 1024}
    )


@pytest.mark.parametrize(
    "size, kernel, stride, wanted", [(224, 7, 2, 112), (56, 3, 1, 56), (56, 3, 2, 28), (56, 1, 2, 28)]
)
def test_the_size_of_a_result(size, kernel, stride, wanted):
    assert kernel_jobs.out_size(convolution(size, 1, 1, kernel, stride)) == wanted


def test_small_operations_are_computed_several_times_in_a_run():
    jobs = {kernel_jobs.name(job): job for job in kernel_jobs.load()}
    assert kernel_jobs.copies(jobs["17x33x65"]) == kernel_jobs.MOST_COPIES
    assert kernel_jobs.copies(jobs["256x256x256"]) == 2
    assert kernel_jobs.copies(jobs["1024x1024x1024"]) == 1


def test_every_job_has_a_name_of_its_own():
    names = [kernel_jobs.name(job) for job in kernel_jobs.load()]
    assert len(set(names)) == len(names)
    assert "128x3072x768 bias relu" in names and "depthwise 3x3 /2 96->96 at 112" in names


def test_the_list_covers_what_it_promises():
    jobs = kernel_jobs.load()
    groups = {name: [job for job in jobs if kernels.group(job) == name] for name in kernels.GROUPS}
    assert {name: len(group) for name, group in groups.items()} == {"matmul": 40, "convolution": 23, "depthwise": 10}
    assert {1, 4, 16, 64, 128, 512} <= {job["m"] for job in groups["matmul"]}
    # The different convolutions of ResNet-50: 53 layers, of which these are the distinct shapes, need 7.7 GFLOP with
    # their repeats; once each they are about half of it.
    assert 3.0e9 < sum(map(kernel_jobs.operations, groups["convolution"])) < 7.7e9


@pytest.mark.parametrize(
    "turned, shapes",
    [({}, [(2, 5), (5, 3)]), ({"transpose_a": True}, [(5, 2), (5, 3)]), ({"transpose_b": True}, [(2, 5), (3, 5)])],
)
def test_operands_lie_as_the_job_says(turned, shapes):
    arrays = kernel_jobs.operands({"kind": "matmul", "m": 2, "n": 3, "k": 5, "values": True, **turned})
    assert [arrays[name].shape for name in "ab"] == shapes
    assert all(array.dtype == np.float32 for array in arrays.values())


def test_only_what_a_library_has_is_asked_of_it():
    weights = {"kind": "matmul", "m": 2, "n": 3, "k": 5}
    assert kernels.can("onednn", weights) and kernels.can("mkl", weights)
    assert not kernels.can("mkl", convolution(4, 2, 7, 3)) and kernels.can("onednn", convolution(4, 2, 7, 3))
    assert not kernels.can("onednn", {**weights, "values": True, "transpose_a": True})


def test_shares_of_the_peak():
    job = {"kind": "matmul", "m": 1, "n": 1000, "k": 500}
    row = kernels.tables.Row(("x", "y", 2), {"ferrule": kernels.tables.Timing.of([0.1])})
    peaks = {"fma_gflops": {"x86-64-v3": 50.0, "x86-64-v4": 100.0}, "load_gb_per_second": {"2000000": 40.0}}
    # 1 M operations and 2 MB in 0.1 ms: 10 GFLOP/s and 20 GB/s, of 2 cores with 100 and 40 each.
    assert kernels.shares(job, row, 2, peaks, "host") == {
        "GFLOP/s": "10.0", "of FMA peak": "5%", "of load bandwidth": "25%",
    }  # fmt: skip
    assert kernels.shares(job, row, 1, peaks, "x86-64-v3")["of FMA peak"] == "20%"
