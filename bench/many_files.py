"""A trainer with many operations on local files, for the explorer: shards, a log, checkpoints, and removals of old ones.

    caip explore --no-pairs -- python3 bench/many_files.py --out {job_dir} --bug

The defaults make about 10,000 operations (opens for writing, writes, renames, removals, new folders). A checkpoint is a folder
of shards: each shard is written under another name and renamed, and so is the folder. `latest` names the newest one, and the
older one is removed. Each step appends a line to a log. Two of the steps, in the middle and at the end, add themselves to
`milestones`. With `--bug`, that file alone is written in place. docs/explored.md has what was measured."""
import argparse
import json
import os
import shutil

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--checkpoints", type=int, default=40)
parser.add_argument("--shards", type=int, default=60)
parser.add_argument("--bug", action="store_true")
options = parser.parse_args()


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def load():
    newest = ""
    if os.path.exists("latest"):
        with open("latest") as file:
            newest = file.read()
    for name in os.listdir("."):
        if name == "next" or name.startswith("ckpt-") and name != newest:
            shutil.rmtree(name)
    if not newest:
        return 0, 0.0
    values = []
    for shard in range(options.shards):
        with open(f"{newest}/shard-{shard}") as file:
            values.append(float(file.read()))
    return int(newest.partition("-")[2]), values[0]


def save(step, weight):
    os.mkdir("next")
    for shard in range(options.shards):
        write(f"next/shard-{shard}", str(weight + shard))
    os.rename("next", f"ckpt-{step}")
    write("latest", f"ckpt-{step}")
    shutil.rmtree(f"ckpt-{step - 1}", ignore_errors=True)


def add_milestone(step):
    milestones = read_milestones() + [step]
    if options.bug:
        with open("milestones", "w") as file:
            json.dump(milestones, file)
    else:
        write("milestones", json.dumps(milestones))


def read_milestones():
    if not os.path.exists("milestones"):
        return []
    with open("milestones") as file:
        return json.load(file)


os.makedirs(options.out, exist_ok=True)
os.chdir(options.out)
step, weight = load()
read_milestones()
if os.path.exists("log"):
    with open("log") as file:
        lines = file.readlines()
    if "".join(lines) != "".join(lines[:step]):
        write("log", "".join(lines[:step]))
while step < options.checkpoints:
    step += 1
    weight = weight * 0.9 + step
    with open("log", "a") as log:
        log.write(json.dumps({"step": step, "weight": weight}) + "\n")
    print(json.dumps({"step": step, "weight": weight}), flush=True)
    if step % (options.checkpoints // 2) == 0 and step not in read_milestones():
        add_milestone(step)
    save(step, weight)
write("result", str(weight))
