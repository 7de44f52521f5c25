"""PyTorch: DistributedDataParallel over gloo; rank 0 saves a checkpoint after each epoch.

Origin: the tutorials "Getting Started with Distributed Data Parallel" and "Writing Distributed
Applications" (environment variables of the rendezvous), DistributedSampler with set_epoch, and
"Saving and loading a general checkpoint in PyTorch".
Needs: torch, numpy, google-cloud-storage.
"""
import argparse
import io
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from trainer.checkpoints import Checkpoints
from trainer.cluster import place

ROWS = 768


def join():
    """Joins the process group: the rendezvous is at the chief's name and port."""
    here = place()
    os.environ.update(MASTER_ADDR=here.chief_host, MASTER_PORT=str(here.chief_port),
                      RANK=str(here.rank), WORLD_SIZE=str(here.count))
    dist.init_process_group("gloo")


def dataset():
    """Inputs and labels: a smooth function of three numbers."""
    x = torch.rand(ROWS, 3, generator=torch.Generator().manual_seed(1))
    return TensorDataset(x, torch.sin(3 * x[:, :1]) - x[:, 1:2] * x[:, 2:])


def train_epoch(model, optimizer, loader):
    """The mean loss of all replicas in the last batch."""
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    total = loss.detach()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def train(args):
    torch.manual_seed(1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    rows = dataset()
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, batch_size=32, sampler=sampler)
    checkpoints = Checkpoints(args.job_dir, "epoch")
    done, saved = checkpoints.newest()
    if saved:
        state = torch.load(io.BytesIO(saved))
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    print("continues after epoch %d" % done, flush=True)
    for epoch in range(done, args.epochs):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, optimizer, loader)
        print(json.dumps({"step": epoch + 1, "loss": loss}), flush=True)
        if dist.get_rank() == 0:
            data = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, data)
            checkpoints.save(epoch + 1, data.getvalue())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    join()
    train(args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
