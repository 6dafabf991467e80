"""Writes optimizers.json: the steps of torch's optimizers and the rates of its schedules, to compare Ferrule with.

    ~/.cache/ferrule/torch/bin/python frontend/ferrule/tests/oracle/make_optimizers.py

Everything is float64. Contents:

    start, gradients       the parameter (3, 2) before the first of the STEPS steps, and the gradient of each step
    optimizers             [{"name", "arguments", "values": the parameter after each step}]
    schedules              [{"name", "arguments", "rates": the learning rate of each of 25 epochs, initially 0.5}]
    momenta                {name: the momentum of each step of the first schedule of that name}, of those that move it
    plateau                {"arguments", "metrics", "rates"}: the rate after each metric
"""

import json
import pathlib

import numpy as np
import torch

STEPS = 5

OPTIMIZERS = [
    ("SGD", dict(lr=0.125)),
    ("SGD", dict(lr=0.125, weight_decay=0.25)),
    ("SGD", dict(lr=0.125, momentum=0.9)),
    ("SGD", dict(lr=0.125, momentum=0.9, weight_decay=0.25)),
    ("SGD", dict(lr=0.125, momentum=0.9, nesterov=True, weight_decay=0.25)),
    ("Adam", dict(lr=0.125)),
    ("Adam", dict(lr=0.125, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.25)),
    ("Adam", dict(lr=0.125, weight_decay=0.25, amsgrad=True)),
    ("AdamW", dict(lr=0.125)),
    ("AdamW", dict(lr=0.125, betas=(0.0, 0.95), weight_decay=0.25)),
    ("AdamW", dict(lr=0.125, betas=(0.5, 0.5), weight_decay=0.25, amsgrad=True)),
    # Where torch adds eps outside the root and MegEngine inside, eps = 0 makes them one formula.
    ("Adagrad", dict(lr=0.125, eps=0.0)),
    ("Adagrad", dict(lr=0.125, eps=0.0, lr_decay=0.5, weight_decay=0.25)),
    ("Adadelta", dict(lr=1.0)),
    ("Adadelta", dict(lr=0.5, rho=0.7, eps=1e-3, weight_decay=0.25)),
    ("RMSprop", dict(lr=0.125)),
    ("RMSprop", dict(lr=0.125, alpha=0.9, eps=1e-3, weight_decay=0.25, momentum=0.9)),
    ("RMSprop", dict(lr=0.125, alpha=0.9, momentum=0.5, centered=True)),
    ("Adamax", dict(lr=0.125)),
    ("Adamax", dict(lr=0.125, betas=(0.5, 0.75), eps=1e-3, weight_decay=0.25)),
    ("NAdam", dict(lr=0.125)),
    ("NAdam", dict(lr=0.125, betas=(0.5, 0.75), weight_decay=0.25, momentum_decay=0.5)),
    ("NAdam", dict(lr=0.125, weight_decay=0.25, decoupled_weight_decay=True)),
    # The variance is known well enough from step 6 on with 0.999, never with 0.5, from step 2 on with 0.9.
    ("RAdam", dict(lr=0.125)),
    ("RAdam", dict(lr=0.125, betas=(0.5, 0.5), weight_decay=0.25)),
    ("RAdam", dict(lr=0.125, betas=(0.9, 0.9), eps=1e-3, weight_decay=0.25, decoupled_weight_decay=True)),
    ("ASGD", dict(lr=0.125)),
    ("ASGD", dict(lr=0.125, lambd=0.25, alpha=0.5, t0=1, weight_decay=0.25)),
    ("Rprop", dict(lr=0.125)),
    ("Rprop", dict(lr=0.125, etas=(0.25, 2.0), step_sizes=(0.0625, 0.25))),
    ("Adafactor", dict(lr=0.125)),
    ("Adafactor", dict(lr=0.5, beta2_decay=-0.5, eps=(1e-3, 0.5), d=1.5, weight_decay=0.25)),
]

SCHEDULES = [
    ("MultiStepLR", dict(milestones=[3, 7, 7, 20], gamma=0.5)),
    ("StepLR", dict(step_size=4, gamma=0.3)),
    ("ExponentialLR", dict(gamma=0.9)),
    ("ConstantLR", dict(factor=0.25, total_iters=6)),
    ("LinearLR", dict(start_factor=0.25, end_factor=0.75, total_iters=6)),
    ("PolynomialLR", dict(total_iters=10, power=2.0)),
    ("CosineAnnealingLR", dict(T_max=10, eta_min=0.1)),
    ("CosineAnnealingWarmRestarts", dict(T_0=4, T_mult=1, eta_min=0.1)),
    ("CosineAnnealingWarmRestarts", dict(T_0=3, T_mult=2)),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=25)),
    ("OneCycleLR", dict(max_lr=1.0, epochs=5, steps_per_epoch=5, anneal_strategy="linear", pct_start=0.2)),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=25, three_phase=True, div_factor=10.0, final_div_factor=100.0)),
    ("CyclicLR", dict(base_lr=0.25, max_lr=1.0, step_size_up=3)),
    ("CyclicLR", dict(base_lr=0.25, max_lr=1.0, step_size_up=2, step_size_down=4, mode="triangular2")),
    ("CyclicLR", dict(base_lr=0.25, max_lr=1.0, step_size_up=4, mode="exp_range", gamma=0.9)),
    (
        "SequentialLR",
        dict(
            schedulers=[
                ("ConstantLR", dict(factor=0.25, total_iters=4)),
                ("ExponentialLR", dict(gamma=0.5)),
                ("CosineAnnealingLR", dict(T_max=5)),
            ],
            milestones=[6, 11],
        ),
    ),
    (
        "ChainedScheduler",
        dict(
            schedulers=[
                ("LinearLR", dict(start_factor=0.25, total_iters=5)),
                ("ExponentialLR", dict(gamma=0.9)),
                ("MultiStepLR", dict(milestones=[3, 9], gamma=0.5)),
            ],
        ),
    ),
]
EPOCHS = 25


def optimizer_steps(name, arguments, start, gradients):
    p = torch.nn.Parameter(torch.tensor(start))
    optimizer = getattr(torch.optim, name)([p], **arguments)
    values = []
    for g in gradients:
        p.grad = torch.tensor(g)
        optimizer.step()
        values.append(p.detach().numpy().tolist())
    return values


def make_schedule(optimizer, name, arguments):
    """The schedule; the ``schedulers`` of one that is made of others are (name, arguments)."""
    parts = [make_schedule(optimizer, *part) for part in arguments.get("schedulers", ())]
    arguments = arguments | ({"schedulers": parts} if parts else {})
    kind = getattr(torch.optim.lr_scheduler, name)
    return kind(**arguments) if name == "ChainedScheduler" else kind(optimizer, **arguments)


def schedule_rates(name, arguments):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5, momentum=0.9)
    schedule = make_schedule(optimizer, name, arguments)
    rates, momenta = [], []
    for epoch in range(EPOCHS):
        rates.append(optimizer.param_groups[0]["lr"])
        momenta.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        if epoch + 1 < EPOCHS:
            schedule.step()
    return rates, momenta


def plateau():
    arguments = dict(factor=0.5, patience=2, threshold=0.1, cooldown=1, min_lr=0.1)
    metrics = [3.0, 2.0, 1.9, 1.85, 1.84, 1.83, 1.82, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **arguments)
    rates = []
    for metric in metrics:
        schedule.step(metric)
        rates.append(optimizer.param_groups[0]["lr"])
    return {"arguments": arguments, "metrics": metrics, "rates": rates}


def main():
    torch.set_default_dtype(torch.float64)  # also of the numbers that optimizers keep as states
    rng = np.random.default_rng(3)
    start = rng.normal(size=(3, 2))
    gradients = rng.normal(size=(STEPS, 3, 2))
    rated = [(name, arguments, *schedule_rates(name, arguments)) for name, arguments in SCHEDULES]
    content = {
        "versions": {"torch": torch.__version__, "numpy": np.__version__},
        "start": start.tolist(),
        "gradients": gradients.tolist(),
        "optimizers": [
            {"name": name, "arguments": arguments, "values": optimizer_steps(name, arguments, start, gradients)}
            for name, arguments in OPTIMIZERS
        ],
        "schedules": [{"name": name, "arguments": arguments, "rates": rates} for name, arguments, rates, _ in rated],
        "momenta": {
            wanted: next(momenta for name, _, _, momenta in rated if name == wanted)
            for wanted in ("OneCycleLR", "CyclicLR")
        },
        "plateau": plateau(),
    }
    (pathlib.Path(__file__).parent / "optimizers.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
