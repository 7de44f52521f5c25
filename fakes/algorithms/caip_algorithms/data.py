"""The data of a job: downloads the files that the arguments name, and preprocesses them."""
from . import storage
from .encoding import EncodedRows, RawRows
from .metadata import FILE, metadata_of
from .processing import Parts, process, upload
from .report import Failure, info
from .scanning import Settings, Source, describe, scan, size_of
from .splitting import TEST, VALIDATION


class Data:
    """`parts` are the files of the training, validation and test part. `metadata` describes their columns, `served`
    those of the input."""

    def __init__(self, metadata, parts, served):
        self.metadata, self.parts, self.served = metadata, parts, served


def fetch(path, flag, directory, share=None):
    """The files that a path names. `share`: (replica, replicas), where each replica gets files of its own if there are
    enough; else every replica gets all of them."""
    found = storage.find(path, flag)
    if share and len(found) >= share[1]:
        found = found[share[0]::share[1]]
    return [Source(storage.fetch(one, flag, directory), one, shared=bool(share) and len(found) < share[1]) for one in found]


def prepare(arguments, directory, classes, encoded, extra):
    """The Data of a job. `classes`: the target is a class; `encoded`: the trainer needs numbers alone."""
    extra = dict(extra, preprocessed=arguments.preprocess)
    training = fetch(arguments.training_data_path, "training_data_path", directory)
    others = {}
    for part, flag in ((VALIDATION, "validation_data_path"), (TEST, "test_data_path")):
        path = getattr(arguments, flag)
        if path:
            others[part] = fetch(path, flag, directory)
    info("Downloaded %s (%d bytes)." % (arguments.training_data_path, size_of(training)))
    if arguments.preprocess:
        return _preprocess(arguments, training, others, directory, classes, encoded, extra)
    settings = Settings(classes and not encoded, detects=False, numbers_only=encoded)
    table = scan(training, settings)
    describe(table)
    metadata = metadata_of(table, encoded, extra)
    storage.upload_text(metadata.to_json(), storage.join(arguments.job_dir, FILE))
    return Data(metadata, Parts(training, others[VALIDATION], others.get(TEST)), metadata)


def _preprocess(arguments, training, others, directory, classes, encoded, extra):
    weighted = bool(extra.get("weighted"))
    splits = VALIDATION not in others
    settings = Settings(classes, detects=True, weighted=weighted, validation_share=arguments.validation_split if splits else 0.0,
                        test_share=arguments.test_split if splits else 0.0)
    table = scan(training, settings)
    describe(table)
    metadata = metadata_of(table, encoded, extra)
    rows = (EncodedRows if encoded else RawRows)(metadata)
    writer = process(table, rows, settings, others, directory)
    if not writer.counts[0]:
        raise Failure("%s has no row left for training. Give more rows, or lower --validation_split and --test_split." %
                      arguments.training_data_path)
    parts = upload(writer, arguments.job_dir, lambda local, path: [Source(local, path)])
    storage.upload_text(metadata.to_json(), storage.join(arguments.job_dir, FILE))
    return Data(metadata if encoded else metadata.of_processed_files(), parts, metadata)
