"""LeNet-5 on handwritten digits.

./dev python frontend/examples/lenet.py
"""

from example_data import digit_batches
from example_training import Example, train

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

BATCH = 64


class LeNet(M.Module):
    """[N, 1, 32, 32] images -> [N, 10] logits."""

    def __init__(self):
        super().__init__()
        self.conv1 = M.Conv2d(1, 6, 5)
        self.conv2 = M.Conv2d(6, 16, 5)
        self.fc1 = M.Linear(16 * 5 * 5, 120)
        self.fc2 = M.Linear(120, 84)
        self.classifier = M.Linear(84, 10)

    def forward(self, image):
        x = F.avg_pool2d(F.tanh(self.conv1(image)), 2)
        x = F.avg_pool2d(F.tanh(self.conv2(x)), 2)
        x = F.tanh(self.fc1(F.flatten(x, 1)))
        return self.classifier(F.tanh(self.fc2(x)))


def make(net=None, max_batch=BATCH):
    """The Example of a network."""
    net = net or LeNet()
    return classifier(net, optim.SGD(net.parameters(), lr=0.05, momentum=0.9), (1, 32, 32), max_batch)


def classifier(net, optimizer, image_shape, max_batch):
    """The Example of any network that classifies images, for batches of 1 to max_batch."""
    gradients = GradManager().attach(net.parameters())

    @trace(symbolic=True)
    def train_step(image, label):
        net.train()
        with gradients:
            loss = F.nn.cross_entropy(net(image), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(image):
        net.eval()
        return F.softmax(net(image), axis=1)

    batch = fer.Dim("batch", min=1, max=max_batch)
    image, label = fer.Spec((batch, *image_shape)), fer.Spec((batch,), "int32")
    return Example({"train_step": (train_step, [image, label]), "predict": (predict, [image])}, {"net": net})


if __name__ == "__main__":
    fer.random.seed(0)
    train(make(), digit_batches(BATCH, size=32), __doc__.splitlines()[0])
