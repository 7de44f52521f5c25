// The flags of `ls`, `cp`, `cat` and `rm`, which gcloud has below `storage`.

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

Grammar::Setter AppendUri(std::vector<google::GcsUri>* into) {
  return [into](const std::string& value) -> Status {
    if (!google::HasGcsScheme(value)) return errors::NotAnObjectUri(value);
    ASSIGN_OR_RETURN(google::GcsUri uri, google::ParseGcsUri(value));
    into->push_back(std::move(uri));
    return Ok{};
  };
}

// Of an object, not of a bucket.
Grammar::Setter AppendObject(std::vector<google::GcsUri>* into) {
  return [into, append = AppendUri(into)](const std::string& value) -> Status {
    RETURN_IF_ERROR(append(value));
    if (into->back().object.empty()) return errors::ObjectNameMissing(value);
    return Ok{};
  };
}

void AddLs(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto ls = std::make_shared<LsCommand>();
  CLI::App& app = grammar.Leaf(grammar.root(), "ls", "Lists buckets or objects.",
                               "Examples:\n  caip ls\n  caip ls -l gs://my-bucket/job\n"
                               "  caip ls -r gs://my-bucket\n  caip ls 'gs://my-bucket/**/*.ckpt'",
                               FinishWith(ls, gcloud));
  grammar.OptionalWords(app, "URI...",
                        "gs://bucket, a folder in it, or objects; * and ? match parts of a name, "
                        "** also slashes. Default: all buckets.",
                        AppendUri(&ls->uris));
  grammar.Suggest(app, "URI...", {.kind = Values::Kind::kObjects});
  grammar.Switch(app, "-l,--long", "Also print sizes and times.", &ls->long_listing);
  grammar.Switch(app, "-r,--recursive", "List all objects below.", &ls->recursive);
  AddEmulatorFlags(grammar, app, &ls->emulator);
}

void AddCp(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto cp = std::make_shared<CpCommand>();
  const auto places = std::make_shared<std::vector<CopyPlace>>();
  const auto finish = [cp, places, &gcloud](const Words&) -> Result<Command> {
    if (places->size() < 2) return errors::TwoPlacesNeeded();
    cp->destination = places->back();
    cp->sources.assign(places->begin(), places->end() - 1);
    for (const CopyPlace& source : cp->sources) {
      const bool is_local = std::holds_alternative<Path>(source);
      if (is_local && std::holds_alternative<Path>(cp->destination)) {
        return errors::NoPlaceInStorage();
      }
    }
    cp->gcloud = gcloud;
    return Command(*cp);
  };
  CLI::App& app = grammar.Leaf(grammar.root(), "cp", "Copies files to and from buckets.",
                               "Examples:\n  caip cp data.csv gs://my-bucket/data/\n"
                               "  caip cp -r gs://my-bucket/job/model .\n"
                               "  caip cp 'gs://my-bucket/logs/*.txt' logs/\n"
                               "  caip cp - gs://my-bucket/from-a-pipe.txt",
                               finish);
  grammar.Positional(
      app, "PATH|URI",
      "Sources, and the destination at last: files of this host, and objects gs://bucket/name. - "
      "is "
      "the standard input or output.",
      [places](const std::string& value) -> Status {
        ASSIGN_OR_RETURN(CopyPlace place, ReadCopyPlace(value));
        places->push_back(std::move(place));
        return Ok{};
      },
      true);
  grammar.Switch(app, "-r,--recursive", "Copy directories with all that is in them.",
                 &cp->recursive);
  AddEmulatorFlags(grammar, app, &cp->emulator);
}

void AddCatAndRm(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto cat = std::make_shared<CatCommand>();
  CLI::App& cat_app = grammar.Leaf(grammar.root(), "cat", "Prints objects.",
                                   "Examples:\n  caip cat gs://my-bucket/job/metrics.json\n"
                                   "  caip cat 'gs://my-bucket/logs/*.txt'",
                                   FinishWith(cat, gcloud));
  grammar.Positional(cat_app, "URI", "gs://bucket/object; *, ** and ? as in `caip ls`.",
                     AppendObject(&cat->uris), true);
  grammar.Suggest(cat_app, "URI", {.kind = Values::Kind::kObjects});
  AddEmulatorFlags(grammar, cat_app, &cat->emulator);

  const auto rm = std::make_shared<RmCommand>();
  CLI::App& rm_app = grammar.Leaf(grammar.root(), "rm", "Removes objects.",
                                  "Examples:\n  caip rm gs://my-bucket/job/old.ckpt\n"
                                  "  caip rm -r gs://my-bucket/job\n"
                                  "  caip rm -r gs://my-bucket    # the bucket, too",
                                  FinishWith(rm, gcloud));
  grammar.Positional(rm_app, "URI", "gs://bucket/object; *, ** and ? as in `caip ls`.",
                     AppendUri(&rm->uris), true);
  grammar.Suggest(rm_app, "URI", {.kind = Values::Kind::kObjects});
  grammar.Switch(rm_app, "-r,--recursive", "Remove folders, and buckets, with all that is in them.",
                 &rm->recursive);
  AddEmulatorFlags(grammar, rm_app, &rm->emulator);
}

}  // namespace

void AddStorageCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  AddLs(grammar, gcloud);
  AddCp(grammar, gcloud);
  AddCatAndRm(grammar, gcloud);
}

}  // namespace caip::cli
