"""A Transformer encoder that tells from 48 characters which licence they stand in.

./dev python frontend/examples/transformer.py
"""

from example_data import license_texts, which_license_batches
from example_training import Example, train

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

BATCH, LENGTH = 16, 48


class Classifier(M.Module):
    """[N, length] int32 bytes -> [N, classes] logits."""

    def __init__(self, classes, width=64, heads=4, depth=2, length=LENGTH):
        super().__init__()
        self.bytes = M.Embedding(256, width)
        self.positions = M.Embedding(length, width)
        layer = M.TransformerEncoderLayer(width, heads, dim_feedforward=2 * width, dropout=0.0, batch_first=True)
        self.encoder = M.TransformerEncoder(layer, depth)
        self.classifier = M.Linear(width, classes)

    def forward(self, text):
        x = self.bytes(text) + self.positions(F.arange(text.shape[1], dtype="int32"))
        return self.classifier(F.mean(self.encoder(x), 1))


def make(net=None, max_batch=BATCH, length=LENGTH):
    """The Example of a network."""
    net = net or Classifier(len(license_texts()), length=length)
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.Adam(net.parameters(), lr=1e-3)

    @trace(symbolic=True)
    def train_step(text, label):
        net.train()
        with gradients:
            loss = F.nn.cross_entropy(net(text), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(text):
        net.eval()
        return F.softmax(net(text), axis=1)

    batch = fer.Dim("batch", min=1, max=max_batch)
    text, label = fer.Spec((batch, length), "int32"), fer.Spec((batch,), "int32")
    return Example({"train_step": (train_step, [text, label]), "predict": (predict, [text])}, {"net": net})


if __name__ == "__main__":
    fer.random.seed(0)
    train(make(), which_license_batches(BATCH, LENGTH), __doc__.splitlines()[0], steps=300)
