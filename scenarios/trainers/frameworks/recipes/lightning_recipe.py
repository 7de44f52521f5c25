"""Lightning: ModelCheckpoint(save_last=True), and Trainer.fit(ckpt_path=...) with the last checkpoint after a restart.

Origin: Lightning's page "Saving and loading checkpoints". Lightning writes last.ckpt in place, so that the loss of the
machine in the middle leaves half a file: Whole is a plugin that renames it when it is complete.
--bug: fit() without ckpt_path. The checkpoints are written, and nobody reads them.
"""
import argparse
import json
import os
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.plugins import TorchCheckpointIO
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()
warnings.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))

    def training_step(self, batch, index):
        inputs, targets = batch
        self.loss = nn.functional.cross_entropy(self.layers(inputs), targets)
        return self.loss

    def on_train_epoch_end(self):
        print(json.dumps({"step": self.current_epoch + 1, "loss": round(self.loss.item(), 5)}), flush=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


class Whole(TorchCheckpointIO):
    def save_checkpoint(self, checkpoint, path, storage_options=None):
        hidden = str(path) + ".part"
        super().save_checkpoint(checkpoint, hidden, storage_options)
        os.replace(hidden, path)


lightning.seed_everything(0, verbose=False)
torch.set_num_threads(1)
X = torch.rand(256, 8)
loader = DataLoader(TensorDataset(X, (X.sum(1) > 4).long()), batch_size=64)
last = os.path.join(args.out, "last.ckpt")
trainer = lightning.Trainer(
    max_epochs=args.epochs, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False,
    enable_model_summary=False, plugins=[Whole()], callbacks=[ModelCheckpoint(dirpath=args.out, save_last=True, save_top_k=0)])
trainer.fit(Model(), loader, ckpt_path=last if os.path.exists(last) and not args.bug else None)
