"""What a forked child may do (dynamic mode goes on, a session of the parent is refused, a new one runs), and another thread."""

import multiprocessing
import threading

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F


def result_of_child(function, *arguments):
    """What ``function`` returns in a forked child: an array or a text."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(function(*arguments)))
    child.start()
    child.join(timeout=60)
    assert child.exitcode == 0, "the child hangs or has failed"
    return queue.get()


def softmax_of(values):
    return F.softmax(fer.tensor(values), axis=1).numpy()


def test_dynamic_mode_goes_on_in_a_forked_child():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    before = softmax_of(values)  # its program has a session with threads in this process
    np.testing.assert_array_equal(result_of_child(softmax_of, values), before)
    np.testing.assert_array_equal(softmax_of(values), before)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_session_belongs_to_the_process_that_made_it(threads):
    double = fer.jit.trace(lambda x: x * 2, symbolic=True)
    program = fer.compile({"double": (double, [fer.Spec((3,))])})
    session = fer.Session(program, threads=threads)
    values = np.ones(3, np.float32)

    def run_the_parents():
        try:
            return session.run("double", values)
        except fer.errors.FerruleError as error:
            return str(error)

    def run_its_own():
        return np.asarray(fer.Session(program, threads=threads).run("double", values)[0])

    assert "forked" in result_of_child(run_the_parents)
    np.testing.assert_array_equal(result_of_child(run_its_own), 2 * values)
    np.testing.assert_array_equal(session.run("double", values)[0], 2 * values)


def test_another_thread_cancels_a_run():
    endless = fer.jit.trace(lambda x: F.while_loop(lambda x: F.sum(x) >= 0, lambda x: x * 1.0, x), symbolic=True)
    session = fer.Session(fer.compile({"endless": (endless, [fer.Spec((3,))])}), threads=1)
    ended = threading.Event()

    def cancel():
        # A call before the run has begun ends nothing, or that run at its start.
        while not ended.wait(0.01):
            session.cancel()

    other = threading.Thread(target=cancel)
    other.start()
    try:
        with pytest.raises(fer.errors.ExecutionError, match="cancel"):
            session.run("endless", np.ones(3, np.float32))
    finally:
        ended.set()
        other.join()
