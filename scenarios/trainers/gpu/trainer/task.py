"""PyTorch on one GPU: a checkpoint after each epoch, written beside and renamed, so that a machine may be lost any time.

Origin: the tutorial "Saving and loading a general checkpoint in PyTorch", and "Reproducibility" for
what makes the steps equal in each run.
Needs: torch, and a GPU.
"""
import argparse
import json
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before torch: equal results each time

import torch
from torch import nn

ROWS = 4096


def newest(path, model, optimizer):
    """Continues from a checkpoint. Returns the number of epochs that are done."""
    if not os.path.exists(path):
        return 0
    saved = torch.load(path, map_location="cuda")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["epoch"]


def save(path, epoch, model, optimizer):
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()},
               path + ".new")
    os.replace(path + ".new", path)


def train_epoch(model, optimizer, x, y):
    for rows in torch.arange(ROWS).split(256):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    os.makedirs(args.job_dir, exist_ok=True)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    print("trains on " + torch.cuda.get_device_name(), flush=True)
    x = torch.rand(ROWS, 64, device="cuda")
    y = torch.sin(3 * x[:, :1]) - x[:, 1:2] * x[:, 2:3]
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    path = os.path.join(args.job_dir, "checkpoint.pt")
    done = newest(path, model, optimizer)
    for epoch in range(done, args.epochs):
        loss = train_epoch(model, optimizer, x, y)
        print(json.dumps({"step": epoch + 1, "loss": loss}), flush=True)
        save(path, epoch + 1, model, optimizer)
    with open(os.path.join(args.job_dir, "weights"), "wb") as file:
        for weights in model.parameters():
            file.write(weights.detach().cpu().numpy().tobytes())


if __name__ == "__main__":
    main()
