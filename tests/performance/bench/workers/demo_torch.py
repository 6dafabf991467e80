"""The demo's network in torch, eager or compiled. The job: {"entry", "batch", "compiled"}."""

import itertools
import sys

import torch

from ..digits_data import load
from ..harness import ROOT
from ..worker import Prepared

sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import digits_net  # noqa: E402  (its folder is on the path only now)


def version():
    return torch.__version__


def prepare(job, threads):
    torch.set_num_threads(threads)
    images, labels, initial = load(job["batch"])
    net = digits_net.load(digits_net.Net(), initial)
    forward = torch.compile(net) if job.get("compiled") else net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    batches = itertools.cycle(zip(torch.from_numpy(images), torch.from_numpy(labels)))

    def train_step():
        image, label = next(batches)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(image), label)
        loss.backward()
        optimizer.step()
        return [loss.item()]

    def predict():
        with torch.inference_mode():
            return [torch.softmax(forward(next(batches)[0]), 1).numpy()]

    net.train(job["entry"] == "train_step")
    return Prepared(train_step if job["entry"] == "train_step" else predict)
