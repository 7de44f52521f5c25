"""PyTorch: a general checkpoint after each epoch, which replaces the one before.

Origin: the tutorial "Saving and loading a general checkpoint in PyTorch"; the state of the random generator is saved, too.
--bug: torch.save writes under the final name, so the loss of the machine in the middle leaves half a file.
"""
import argparse
import json
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
X = torch.rand(256, 8)
y = (X.sum(1) > 4).long()
loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
path = os.path.join(args.out, "checkpoint.pt")


def save(state):
    if args.bug:
        torch.save(state, path)
        return
    with open(path + ".new", "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


os.makedirs(args.out, exist_ok=True)
start = 0
if os.path.exists(path):
    checkpoint = torch.load(path)
    start = checkpoint["epoch"]
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    torch.set_rng_state(checkpoint["random"])

for epoch in range(start, args.epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
    print(json.dumps({"step": epoch + 1, "loss": round(loss.item(), 5)}), flush=True)
    save({"epoch": epoch + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
          "random": torch.get_rng_state()})
