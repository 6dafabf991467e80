"""A small GPT on the bytes of licence texts: it learns to go on with a text.

./dev python frontend/examples/gpt.py
"""

import numpy as np
from example_data import text_batches
from example_training import Example, train

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

BATCH, LENGTH, BYTES = 8, 64, 256


class Block(M.Module):
    """Causal attention and a two-layer network, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = M.LayerNorm(width)
        self.project_in = M.Linear(width, 3 * width)
        self.project_out = M.Linear(width, width)
        self.norm2 = M.LayerNorm(width)
        self.widen = M.Linear(width, 4 * width)
        self.narrow = M.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        x = F.reshape(self.project_in(x), (batch, length, 3, self.heads, width // self.heads))
        query, key, value = F.transpose(x, (2, 0, 3, 1, 4))  # [batch, heads, length, width / heads] each
        x = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.project_out(F.reshape(F.transpose(x, (0, 2, 1, 3)), (batch, length, width)))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class GPT(M.Module):
    """[N, length] int32 bytes -> [N, length, 256] logits of the byte that follows each."""

    def __init__(self, width=64, heads=4, depth=2, longest=LENGTH):
        super().__init__()
        self.bytes = M.Embedding(BYTES, width)
        self.positions = M.Embedding(longest, width)
        self.blocks = M.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = M.LayerNorm(width)
        self.head = M.Linear(width, BYTES)

    def forward(self, text):
        x = self.bytes(text) + self.positions(F.arange(text.shape[1], dtype="int32"))
        return self.head(self.norm(self.blocks(x)))


def make(net=None, max_batch=BATCH, length=LENGTH):
    """The Example of a network."""
    net = net or GPT(longest=length)
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)

    @trace(symbolic=True)
    def train_step(text, following):
        net.train()
        with gradients:
            logits = net(text)
            loss = F.nn.cross_entropy(F.reshape(logits, (-1, BYTES)), F.flatten(following))
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(text):
        net.eval()
        return net(text)[:, -1]

    batch = fer.Dim("batch", min=1, max=max_batch)
    text = fer.Spec((batch, length), "int32")
    return Example({"train_step": (train_step, [text, text]), "predict": (predict, [text])}, {"net": net})


def main():
    fer.random.seed(0)
    session = train(make(), text_batches(BATCH, LENGTH), __doc__.splitlines()[0])
    text = b"  This program is free software; you can redistribute it and/or modify"[-LENGTH:]
    for _ in range(40):
        (logits,) = session.run("predict", np.frombuffer(text[-LENGTH:], np.uint8).astype(np.int32)[None])
        text += bytes([int(logits[0].argmax())])
    print(text.decode("ascii", "replace"))


if __name__ == "__main__":
    main()
