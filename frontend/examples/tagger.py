"""An LSTM that finds the capital letters of a lower-cased text, for lines of any length.

./dev python frontend/examples/tagger.py
"""

import numpy as np
from example_data import capital_batches
from example_training import Example, train

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

BATCH, LONGEST = 16, 80


class Tagger(M.Module):
    """[N, length] int32 bytes -> [N, length, 2] logits: small or capital."""

    def __init__(self, width=32):
        super().__init__()
        self.bytes = M.Embedding(256, width)
        self.lstm = M.LSTM(width, width, batch_first=True)
        self.classifier = M.Linear(width, 2)

    def forward(self, text):
        output, _ = self.lstm(self.bytes(text))
        return self.classifier(output)


def make(net=None, max_batch=BATCH, longest=LONGEST):
    """The Example of a network: both the batch and the length are dims."""
    net = net or Tagger()
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.Adam(net.parameters(), lr=3e-3)

    @trace(symbolic=True)
    def train_step(text, capital):
        with gradients:
            loss = F.nn.cross_entropy(F.reshape(net(text), (-1, 2)), F.flatten(capital), ignore_index=-1)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(text):
        return F.argmax(net(text), axis=2)

    batch, length = fer.Dim("batch", min=1, max=max_batch), fer.Dim("length", min=1, max=longest)
    text = fer.Spec((batch, length), "int32")
    return Example({"train_step": (train_step, [text, text]), "predict": (predict, [text])}, {"net": net})


def main():
    fer.random.seed(0)
    session = train(make(), capital_batches(BATCH, LONGEST), __doc__.splitlines()[0])
    for line in (b"the free software foundation, inc.", b"you may not use this file. see the license."):
        (capital,) = session.run("predict", np.frombuffer(line, np.uint8).astype(np.int32)[None])
        print(bytes(byte - 32 if tag and 97 <= byte <= 122 else byte for byte, tag in zip(line, capital[0])).decode())


if __name__ == "__main__":
    main()
