"""One system of bench_demo.py: `demo_worker.py SYSTEM THREADS ARTIFACT`, one JSON job a line, one JSON answer a line."""

import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_UP_CALLS = 20  # they also give the losses that bench_demo.py compares


def load_oracle():
    import numpy as np

    file = np.load(ROOT / "tests" / "oracle" / "digits.npz")
    images = (file["images"].astype(np.float32) / 16.0)[:, :, None]
    initial = {key.split("/", 1)[1]: file[key] for key in file.files if key.startswith("initial/")}
    return images, file["labels"], initial


class FerruleSystem:
    def __init__(self, threads, artifact):
        import numpy as np

        import ferrule as fer

        sys.path.insert(0, str(ROOT / "frontend" / "examples"))
        import digits

        images, labels, initial = load_oracle()
        if not artifact.exists():
            net, optimizer = digits.make_net()
            net.load_state_dict(initial)
            digits.compile_digits(net, optimizer, targets=("host",)).save(artifact)
        self._session = fer.Session(fer.load(artifact), threads=threads)
        self._images, self._labels = images, labels.astype(np.int32)
        self.version = "0"

    def train_step(self, i, batch):
        image, label = self._images[i % 20][:batch], self._labels[i % 20][:batch]
        return float(self._session.run("train_step", image, label)[0])

    def predict(self, i, batch):
        return self._session.run("predict", self._images[i % 20][:batch])[0]


class TorchSystem:
    def __init__(self, threads, compiled):
        import numpy as np
        import torch

        sys.path.insert(0, str(ROOT / "tests" / "oracle"))
        from digits_net import Net, load

        torch.set_num_threads(threads)
        images, labels, initial = load_oracle()
        self._torch, self._net = torch, load(Net(), initial)
        self._call = torch.compile(self._net) if compiled else self._net
        self._optimizer = torch.optim.SGD(self._net.parameters(), lr=0.05, momentum=0.9)
        self._images, self._labels = torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64))
        self.version = torch.__version__

    def train_step(self, i, batch):
        image, label = self._images[i % 20][:batch], self._labels[i % 20][:batch]
        self._net.train()
        self._optimizer.zero_grad()
        loss = self._torch.nn.functional.cross_entropy(self._call(image), label)
        loss.backward()
        self._optimizer.step()
        return loss.item()

    def predict(self, i, batch):
        self._net.eval()
        with self._torch.inference_mode():
            return self._torch.softmax(self._call(self._images[i % 20][:batch]), 1).numpy()


def main():
    system, threads, artifact = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    # What a library prints must not end up between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    running = FerruleSystem(threads, artifact) if system == "ferrule" else TorchSystem(threads, system == "torch-compile")
    print(json.dumps({"version": running.version}), file=answers, flush=True)
    warm = set()
    for line in sys.stdin:
        job = json.loads(line)
        call, batch, losses = getattr(running, job["job"]), job["batch"], []
        if (job["job"], batch) not in warm:
            warm.add((job["job"], batch))
            losses = [call(i, batch) for i in range(WARM_UP_CALLS)]
            losses = losses if job["job"] == "train_step" else []
        milliseconds, end, i = [], time.perf_counter() + job["seconds"], 0
        while time.perf_counter() < end or len(milliseconds) < 5:
            start = time.perf_counter()
            call(i, batch)
            milliseconds.append((time.perf_counter() - start) * 1e3)
            i += 1
        print(json.dumps({"milliseconds": milliseconds, "losses": losses}), file=answers, flush=True)


if __name__ == "__main__":
    main()
