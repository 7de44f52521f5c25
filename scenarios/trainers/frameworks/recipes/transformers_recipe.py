"""Hugging Face's Trainer on a tiny model: a checkpoint every two steps, resume_from_checkpoint after a restart.

Origin: the page "Trainer" of Transformers, section "Checkpoints", and get_last_checkpoint of its example scripts.
--bug: the newest folder is loaded, also if the machine was lost while it was written. Without --bug a folder counts once a
file in it says that it is complete.
"""
import argparse
import json
import os
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()
COMPLETE = "complete"


class Report(TrainerCallback):
    def on_log(self, _, state, control, logs=None, **rest):
        if "loss" in logs:
            print(json.dumps({"step": state.global_step, "loss": round(logs["loss"], 5)}), flush=True)

    def on_save(self, arguments, state, control, **rest):
        mark = os.path.join(arguments.output_dir, "checkpoint-%d" % state.global_step, COMPLETE)
        with open(mark, "w"):
            pass


def last_checkpoint():
    os.makedirs(args.out, exist_ok=True)
    if not args.bug:
        for name in os.listdir(args.out):
            folder = os.path.join(args.out, name)
            if name.startswith("checkpoint-") and not os.path.exists(os.path.join(folder, COMPLETE)):
                shutil.rmtree(folder)
    return get_last_checkpoint(args.out)


torch.manual_seed(0)
torch.set_num_threads(1)
words = torch.randint(5, 50, (48, 6))
data = [{"input_ids": row, "labels": row.sum() % 2} for row in words]
model = BertForSequenceClassification(BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=2))
trainer = Trainer(
    model=model, train_dataset=data, callbacks=[Report()],
    args=TrainingArguments(output_dir=args.out, max_steps=args.steps, per_device_train_batch_size=8, logging_steps=1,
                           save_steps=2, save_total_limit=2, use_cpu=True, report_to=[], disable_tqdm=True,
                           dataloader_pin_memory=False))
trainer.train(resume_from_checkpoint=last_checkpoint())
