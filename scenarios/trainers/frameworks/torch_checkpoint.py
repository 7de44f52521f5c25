"""PyTorch: a general checkpoint after each epoch, and a copy of the best.

Origin: the tutorial "Saving and loading a general checkpoint in PyTorch" for what is saved, and
save_checkpoint and `--resume` of main.py in pytorch/examples/imagenet for when and where.
Needs: torch, scikit-learn (for its data set).
"""
import argparse
import json
import os
import shutil

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()
os.makedirs(args.job_dir, exist_ok=True)

torch.manual_seed(0)
torch.set_num_threads(1)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16.0, dtype=torch.float32), torch.tensor(y)
loader = DataLoader(TensorDataset(X[:1500], y[:1500]), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
start_epoch, best_acc = 0, 0.0
path = os.path.join(args.job_dir, "checkpoint.pth.tar")

if os.path.isfile(path):
    checkpoint = torch.load(path)
    start_epoch, best_acc = checkpoint["epoch"], checkpoint["best_acc"]
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    print("=> loaded checkpoint (epoch %d)" % start_epoch, flush=True)

for epoch in range(start_epoch, args.epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(X[1500:]).argmax(1) == y[1500:]).float().mean().item()
    report = {"step": epoch + 1, "loss": round(loss.item(), 6), "acc": round(acc, 6)}
    print(json.dumps(report), flush=True)
    is_best, best_acc = acc > best_acc, max(acc, best_acc)
    torch.save({"epoch": epoch + 1, "state_dict": model.state_dict(), "best_acc": best_acc,
                "optimizer": optimizer.state_dict()}, path)
    if is_best:
        shutil.copyfile(path, os.path.join(args.job_dir, "model_best.pth.tar"))
