"""Values and gradients against torch in float64: tests/oracle/make_digits.py says what was computed."""

import digits
import numpy as np
import pytest
from ferrule.autodiff import GradManager

import ferrule as fer
import ferrule.functional as F

GRADIENT_TOLERANCE = 1e-5  # of the tensor's largest magnitude
TRAINED_TOLERANCE = 1e-4


def assert_close(value, wanted, tolerance, name):
    value, wanted = np.asarray(value, np.float64), np.asarray(wanted, np.float64)
    assert value.size == wanted.size, f"{name}: shape {value.shape}, wanted {wanted.shape}"
    scale = np.abs(wanted).max()
    error = np.abs(value.reshape(wanted.shape) - wanted).max() / (scale if scale > 0 else 1.0)
    assert error <= tolerance, f"{name}: off by {error:.2e} of the largest magnitude {scale:.3g}, allowed {tolerance}"


def test_forward_in_evaluation(make_digits, oracle):
    net, _ = make_digits()
    assert_close(net.eval()(fer.Tensor(oracle.images[0])).numpy(), oracle["logits_eval"], GRADIENT_TOLERANCE, "logits")


def test_forward_loss_and_every_gradient(make_digits, oracle):
    net, _ = make_digits()
    net.train()
    image = fer.Tensor(oracle.images[0])
    gradients = GradManager().attach([*net.parameters(), image])
    with gradients:
        logits = net(image)
        loss = F.nn.cross_entropy(logits, fer.Tensor(oracle.labels[0]))
        gradients.backward(loss)
    assert_close(logits.numpy(), oracle["logits_train"], GRADIENT_TOLERANCE, "logits")
    assert_close(loss.numpy(), oracle["loss"], GRADIENT_TOLERANCE, "loss")
    wanted = oracle.group("gradient")
    assert_close(image.grad.numpy(), wanted.pop("image"), GRADIENT_TOLERANCE, "gradient of the image")
    assert wanted.keys() == dict(net.named_parameters()).keys()
    for name, parameter in net.named_parameters():
        assert_close(parameter.grad.numpy(), wanted[name], GRADIENT_TOLERANCE, f"gradient of {name}")
    for name, buffer in net.named_buffers():
        assert_close(buffer.numpy(), oracle["statistics/" + name], GRADIENT_TOLERANCE, name)


@pytest.mark.parametrize("kind", ("sgd", "adam"))
def test_twenty_steps(make_digits, oracle, kind):
    program = digits.compile_digits(*make_digits(kind), targets=("host",))
    session = fer.Session(program, threads=2)
    losses = [session.run("train_step", image, label)[0] for image, label in zip(oracle.images, oracle.labels)]
    assert_close(np.array(losses), oracle[f"{kind}/losses"], TRAINED_TOLERANCE, "losses")
    for name, wanted in oracle.group(kind).items():
        assert_close(session["net." + name], wanted, TRAINED_TOLERANCE, name)


def test_the_oracle_names_what_made_it(oracle):
    versions = dict(line.split(" ") for line in oracle["versions"])
    assert versions.keys() == {"torch", "numpy", "scikit-learn"}
