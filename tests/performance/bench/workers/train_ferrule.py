"""A training step compiled by Ferrule. The job: {"net", "tiny", "artifact", "budget"}; the artifact is made if it is missing.

``budget``, which may be missing, is the ``memory_budget`` of `ferrule.compile`. The facts: {"arena"} in bytes, and where the
artifact was made {"compile"}, the compiler's report.
"""

import pathlib

import numpy as np

import ferrule as fer
import ferrule.functional as F
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager

from .. import train_jobs
from ..nets import lenet, mobilenet, residual, resnet, sequences, unet
from ..worker import Prepared
from .ferrule_profile import at_peak, slowest

# By a TrainJob's net: what makes it of its sizes. Those of images take any size.
MAKE = {
    "lenet": lambda **sizes: lenet.make(),
    "resnet18": lambda **sizes: resnet.resnet18(),
    "resnet50": lambda **sizes: resnet.resnet50(),
    "mobilenet_v2": lambda **sizes: mobilenet.MobileNetV2(),
    "gpt": sequences.Gpt,
    "lstm": sequences.Lstm,
    "unet": unet.UNet,
    "residual": residual.ResidualNet,
}


def version():
    return "this tree"


def make_net(training):
    """The network of a TrainJob with its initial weights."""
    net = MAKE[training.net](**training.sizes)
    shapes = {key: value.shape for key, value in net.state_dict().items() if not key.endswith("num_batches_tracked")}
    net.load_state_dict(train_jobs.initial_values(shapes), strict=False)
    return net


def compile_step(training, inputs, labels, memory_budget=None):
    """The Program of the entry "train_step" of a TrainJob, for arrays of these shapes."""
    net = make_net(training)
    gradients = GradManager().attach(net.parameters())
    optimizer = getattr(optim, training.optimizer)(net.parameters(), **training.settings)

    def train_step(x, label):
        net.train()
        with gradients:
            loss = F.nn.cross_entropy(net(x), F.flatten(label))
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    specs = [fer.Spec(array.shape, str(array.dtype)) for array in (inputs, labels)]
    modules = {"net": net, "optimizer": optimizer}
    return fer.compile({"train_step": (train_step, specs)}, modules=modules, memory_budget=memory_budget)


def prepare(job, threads):
    training = train_jobs.find(job)
    inputs, labels = train_jobs.data(training)
    path = pathlib.Path(job["artifact"])
    facts = {}
    if not path.exists():
        program = compile_step(training, inputs, labels, job.get("budget"))
        program.save(path)
        facts["compile"] = program.report
    program = fer.load(path)
    facts["arena"] = program.memory("train_step")["arena"]
    session = fer.Session(program, threads=threads)

    def call():
        return [np.asarray(session.run("train_step", inputs, labels)[0])]

    return Prepared(call, facts, lambda count: slowest(session, call, count), lambda: at_peak(session, call))
