"""A generative adversarial network that draws digits: two networks and two optimizers in one step.

./dev python frontend/examples/gan.py
"""

import numpy as np
from example_data import digit_batches, noise_batches
from example_training import Example, train

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

BATCH, NOISE = 64, 32


class Generator(M.Module):
    """[N, 32] noise -> [N, 1, 8, 8] images in 0..1."""

    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.project = M.Linear(NOISE, 2 * width * 2 * 2)
        self.grow1 = M.ConvTranspose2d(2 * width, width, 4, 2, 1)
        self.bn1 = M.BatchNorm2d(width)
        self.grow2 = M.ConvTranspose2d(width, 1, 4, 2, 1)

    def forward(self, noise):
        x = F.relu(F.reshape(self.project(noise), (-1, 2 * self.width, 2, 2)))
        x = F.relu(self.bn1(self.grow1(x)))
        return F.sigmoid(self.grow2(x))


class Discriminator(M.Module):
    """[N, 1, 8, 8] images -> [N] logits: how real each looks."""

    def __init__(self, width=32):
        super().__init__()
        self.conv1 = M.Conv2d(1, width, 4, 2, 1)
        self.conv2 = M.Conv2d(width, 2 * width, 4, 2, 1)
        self.judge = M.Linear(2 * width * 2 * 2, 1)

    def forward(self, image):
        x = F.leaky_relu(self.conv1(image), 0.2)
        x = F.leaky_relu(self.conv2(x), 0.2)
        return F.reshape(self.judge(F.flatten(x, 1)), (-1,))


def make(generator=None, discriminator=None, max_batch=BATCH):
    """The Example of a pair of networks."""
    generator, discriminator = generator or Generator(), discriminator or Discriminator()
    drawing, judging = GradManager().attach(generator.parameters()), GradManager().attach(discriminator.parameters())
    settings = {"lr": 2e-4, "betas": (0.5, 0.999)}
    draw, judge = optim.Adam(generator.parameters(), **settings), optim.Adam(discriminator.parameters(), **settings)

    def loss_of(logits, real):
        return F.nn.binary_cross_entropy(logits, F.full_like(logits, float(real)))

    @trace(symbolic=True)
    def train_step(noise, image):
        generator.train()
        with judging:
            made = generator(noise).detach()
            judged = loss_of(discriminator(image), True) + loss_of(discriminator(made), False)
            judging.backward(judged)
        judge.step().clear_grad()
        with drawing:
            drawn = loss_of(discriminator(generator(noise)), True)
            drawing.backward(drawn)
        draw.step().clear_grad()
        return judged, drawn

    @trace(symbolic=True)
    def sample(noise):
        generator.eval()
        return generator(noise)

    batch = fer.Dim("batch", min=1, max=max_batch)
    noise, image = fer.Spec((batch, NOISE)), fer.Spec((batch, 1, 8, 8))
    entries = {"train_step": (train_step, [noise, image]), "sample": (sample, [noise])}
    return Example(entries, {"generator": generator, "discriminator": discriminator})


def batches(batch=BATCH):
    """(noise [batch, 32], image [batch, 1, 8, 8]), both float32."""
    return ((noise, image) for noise, image, _ in noise_batches(digit_batches(batch), NOISE))


def main():
    fer.random.seed(0)
    session = train(make(), batches(), __doc__.splitlines()[0], steps=500)
    (images,) = session.run("sample", np.random.default_rng(2).standard_normal((6, NOISE)).astype(np.float32))
    for row in range(8):
        print("  ".join("".join(" .:-=+*#%@"[int(9.99 * value)] * 2 for value in image[0, row]) for image in images))


if __name__ == "__main__":
    main()
