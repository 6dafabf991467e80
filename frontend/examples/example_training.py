"""What the examples have in common: compile the entries, train the artifact with progress, save it."""

import argparse
import time
from typing import NamedTuple

import tqdm

import ferrule as fer


class Example(NamedTuple):
    """A model ready to be compiled."""

    entries: dict  # {name: (traced function, specs)}; "train_step" returns the loss, or several
    modules: dict  # {name: module}, the names of the variables


def compile_example(example, **options):
    """The program of an Example."""
    return fer.compile(example.entries, modules=example.modules, **options)


def train(example, batches, description, steps=200):
    """The main function of an example: its command line, compile, training in the runtime, and the saved file."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps, help="how many batches to train on (default: %(default)s)")
    parser.add_argument("--output", help="the file to write: the program with the trained weights")
    arguments = parser.parse_args()

    start = time.perf_counter()
    program = compile_example(example)
    print(f"compiled {', '.join(program.entries)} in {time.perf_counter() - start:.2f} s")
    session = fer.Session(program)
    progress = tqdm.trange(arguments.steps, unit="step")
    for _ in progress:
        losses = session.run("train_step", *next(batches))
        progress.set_postfix_str("loss " + " ".join(f"{float(loss):.4f}" for loss in losses))
    if arguments.output:
        program.save(arguments.output)
        session.save_checkpoint(arguments.output + ".checkpoint")
        print(f"wrote {arguments.output} and its trained state, {arguments.output}.checkpoint")
    return session
