"""A U-Net that classifies each pixel: what each level makes on the way down is read again on the way up."""

import ferrule.functional as F
import ferrule.module as M


class Double(M.Module):
    """Two 3x3 convolutions, each with a ReLU."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.second = M.Conv2d(inputs, outputs, 3, padding=1), M.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class UNet(M.Module):
    """[N, 3, size, size] images -> [N * size * size, classes] logits."""

    def __init__(self, size, widths, classes):
        super().__init__()
        self.depth, self.classes = len(widths), classes
        self.down = M.Sequential(*[Double(i, o) for i, o in zip((3, *widths), widths)])
        self.grow = M.Sequential(*[M.ConvTranspose2d(o, i, 2, 2) for i, o in zip(widths, widths[1:])])
        self.up = M.Sequential(*[Double(2 * i, i) for i in widths[:-1]])
        self.head = M.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skips = []
        for level in range(self.depth):
            x = self.down[level](x if level == 0 else F.max_pool2d(x, 2, 2))
            skips.append(x)
        for level in reversed(range(self.depth - 1)):
            x = self.up[level](F.concat([skips[level], self.grow[level](x)], axis=1))
        return F.reshape(F.transpose(self.head(x), (0, 2, 3, 1)), (-1, self.classes))
