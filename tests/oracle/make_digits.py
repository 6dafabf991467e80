"""Writes digits.npz: what torch computes for the demo's network, to compare Ferrule with.

    ~/.cache/ferrule/torch/bin/python tests/oracle/make_digits.py      (that environment: `./dev bench` makes it)

Everything is computed in float64 and rounded once to float32 at the end: so the file holds neither torch's rounding
errors nor its choice of kernels, and a comparison measures Ferrule alone. Contents, with STEPS = 20 batches of 64:

    versions                   torch, numpy and scikit-learn that made the file
    images, labels             uint8 [20, 64, 8, 8] (0..16) and uint8 [20, 64]: batch i trains step i
    initial/NAME               float32: weights and running statistics before the first step
    logits_eval, logits_train  float32 [64, 10]: batch 0 with running, and with batch statistics
    loss                       float32: cross entropy of batch 0 in training
    gradient/NAME              float32: of that loss for each parameter; gradient/image for the images (batch 0)
    statistics/NAME            float32: running mean and variance after that one forward
    sgd/losses, sgd/NAME       float32: loss of each step; state after 20 steps of SGD(lr=0.05, momentum=0.9)
    adam/losses, adam/NAME     the same for Adam(lr=0.001)
"""

import pathlib

import numpy as np
import sklearn
import sklearn.datasets
import torch
from digits_net import Net, initial_state, load, state_of
from torch.nn import functional as F

STEPS, BATCH = 20, 64
SEED = 1


def batches():
    """The first STEPS batches of one fixed shuffle of the 1,797 digits."""
    digits = sklearn.datasets.load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))[: STEPS * BATCH]
    images = digits.images[order].astype(np.uint8).reshape(STEPS, BATCH, 8, 8)
    return images, digits.target[order].astype(np.uint8).reshape(STEPS, BATCH)


def inputs(images, labels):
    return torch.from_numpy(images.astype(np.float64) / 16.0)[:, None], torch.from_numpy(labels.astype(np.int64))


def train(optimizer_of, initial, images, labels):
    net = load(Net().double(), initial)
    optimizer = optimizer_of(net.parameters())
    losses = []
    for step in range(STEPS):
        image, label = inputs(images[step], labels[step])
        optimizer.zero_grad()
        loss = F.cross_entropy(net(image), label)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses, np.float32), state_of(net)


def main():
    torch.set_num_threads(1)
    images, labels = batches()
    initial = initial_state(SEED)
    file = {f"initial/{name}": value for name, value in initial.items()}
    file["versions"] = np.array([f"torch {torch.__version__}", f"numpy {np.__version__}", f"scikit-learn {sklearn.__version__}"])
    file["images"], file["labels"] = images, labels

    net = load(Net().double(), initial)
    image, label = inputs(images[0], labels[0])
    with torch.no_grad():
        file["logits_eval"] = net.eval()(image).numpy().astype(np.float32)
    image.requires_grad_()
    logits = net.train()(image)
    loss = F.cross_entropy(logits, label)
    loss.backward()
    file["logits_train"] = logits.detach().numpy().astype(np.float32)
    file["loss"] = np.float32(loss.item())
    file["gradient/image"] = image.grad.numpy().astype(np.float32)
    for name, parameter in net.named_parameters():
        file[f"gradient/{name}"] = parameter.grad.numpy().astype(np.float32)
    for name, value in state_of(net).items():
        if "running" in name:
            file[f"statistics/{name}"] = value

    for kind, optimizer_of in {
        "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
        "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.001),
    }.items():
        file[f"{kind}/losses"], state = train(optimizer_of, initial, images, labels)
        for name, value in state.items():
            file[f"{kind}/{name}"] = value

    path = pathlib.Path(__file__).with_name("digits.npz")
    np.savez_compressed(path, **file)
    print(path, path.stat().st_size, "bytes;", *file["versions"])


if __name__ == "__main__":
    main()
