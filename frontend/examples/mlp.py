"""The shortest whole program: a two-layer network, compiled to one file that trains and predicts (shown in README.md).

    ./dev python frontend/examples/mlp.py      writes mlp.fer, trains it a little and predicts
"""

import numpy as np

# README begins
import ferrule as fer, ferrule.functional as F, ferrule.module as M, ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

net = M.Sequential(M.Linear(64, 32), M.ReLU(), M.Linear(32, 10))
gradients = GradManager().attach(net.parameters())
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

@trace(symbolic=True)
def train_step(image, label):
    with gradients:
        loss = F.nn.cross_entropy(net(image), label)
        gradients.backward(loss)
    optimizer.step().clear_grad()
    return loss

@trace(symbolic=True)
def predict(image):
    return F.softmax(net(image), axis=1)

batch = fer.Dim("batch", min=1, max=64)
image, label = fer.Spec((batch, 64)), fer.Spec((batch,), "int32")
program = fer.compile({"train_step": (train_step, [image, label]), "predict": (predict, [image])}, modules={"net": net})
program.save("mlp.fer")
# README ends

if __name__ == "__main__":
    generator = np.random.default_rng(0)
    images, labels = generator.random((8, 64), np.float32), np.arange(8, dtype=np.int32)
    session = fer.Session(program)
    losses = [float(session.run("train_step", images, labels)[0]) for _ in range(100)]
    (probability,) = session.run("predict", images)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; predicted {probability.argmax(axis=1).tolist()}")
