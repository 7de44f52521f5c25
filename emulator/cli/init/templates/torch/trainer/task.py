"""PyTorch: learns a function. Continues from the newest checkpoint in --job-dir."""
import argparse
import io
import json

import torch
from torch import nn

from trainer.checkpoints import Checkpoints


def to_bytes(**parts):
    data = io.BytesIO()
    torch.save({name: part.state_dict() for name, part in parts.items()}, data)
    return data.getvalue()


def train_epoch(model, optimizer, inputs, labels, epoch):
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))  # the same in each run
    for rows in order.split(32):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs[rows]), labels[rows])
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(1)
    inputs = torch.rand(512, 4)
    labels = torch.sin(3 * inputs[:, :1]) - inputs[:, 1:2] * inputs[:, 2:3]
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    checkpoints = Checkpoints(args.job_dir)
    done, saved = checkpoints.newest()
    if saved:
        state = torch.load(io.BytesIO(saved))
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    for epoch in range(done + 1, args.epochs + 1):
        loss = train_epoch(model, optimizer, inputs, labels, epoch)
        print(json.dumps({"step": epoch, "loss": loss}), flush=True)
        checkpoints.save(epoch, to_bytes(model=model, optimizer=optimizer))
    checkpoints.write_result("model.pt", to_bytes(model=model))
    loss = nn.functional.mse_loss(model(inputs), labels).item()
    checkpoints.write_result("result.json", json.dumps({"loss": loss}).encode())


if __name__ == "__main__":
    main()
