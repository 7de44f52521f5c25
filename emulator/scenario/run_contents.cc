// What a run finds in buckets and volumes, and what it leaves there.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/scenario/contents/bucket_contents.h"
#include "emulator/scenario/scenario_run.h"

namespace caip::scenario {
namespace {

using harness::Evidence;
using harness::FinalObject;

constexpr char kBucket[] = "job";

}  // namespace

Status ScenarioRun::FillBuckets() {
  gcs::DirectoryStore& store = emulator_->buckets();
  std::map<std::string, harness::BucketContents> buckets = scenario_.buckets;
  buckets[kBucket];
  for (const auto& [name, contents] : buckets) {
    const auto made = store.CreateBucket(name);
    if (!made.ok()) return made.error();
    if (options_.begin) continue;
    if (contents.from) RETURN_IF_ERROR(WriteTree(store, name, *contents.from));
    for (const auto& [object, bytes] : contents.objects) {
      RETURN_IF_ERROR(WriteObject(store, name, object, bytes));
    }
  }
  if (options_.begin) RETURN_IF_ERROR(Restore(*options_.begin, store));
  RETURN_IF_ERROR(RestoreFiles());
  if (options_.recorder) return options_.recorder->Begin(store);
  return Ok{};
}

// By the run that had left `begin_files`.
std::set<std::string> ScenarioRun::FilesWrittenBefore() const {
  std::set<std::string> written;
  if (!options_.begin_files) return written;
  for (const auto& [name, number] : options_.begin_files->names()) {
    const harness::FileNodePtr node = options_.begin_files->Find(number);
    const bool is_new = node->at_first.empty() || !harness::IsAtFirst(*node);
    if (node->kind != harness::FileNode::Kind::kDirectory && is_new) written.insert(name);
  }
  return written;
}

// The buckets that replicas use as directories.
std::set<std::string> ScenarioRun::BucketDirectories() const {
  if (scenario_.semantics != harness::Semantics::kPosix) return {};
  std::set<std::string> names = {kBucket};
  for (const auto& [name, contents] : scenario_.buckets) names.insert(name);
  return names;
}

// Volumes, and buckets that are directories.
Status ScenarioRun::RestoreFiles() {
  FileRecorder* recorder = Files();
  if (!recorder && !options_.begin_files) return Ok{};
  harness::FileTree files;
  if (options_.begin_files) {
    files = *options_.begin_files;
    RETURN_IF_ERROR(WriteFiles(files));
  } else {
    volumes_->AddTo(files);
    for (const std::string& name : BucketDirectories()) {
      RETURN_IF_ERROR(AddCopies(name, Below("buckets") / name, *options_.blocks, files));
    }
  }
  if (recorder) {
    recorder->Begin(std::move(files),
                    [this](const std::string& name) { return calls_->PathOf(name); });
  }
  return Ok{};
}

Status ScenarioRun::WriteFiles(const harness::FileTree& files) {
  RETURN_IF_ERROR(volumes_->Restore(files, *options_.blocks));
  for (const std::string& name : BucketDirectories()) {
    RETURN_IF_ERROR(RestoreTree(files, *options_.blocks, name, Below("buckets") / name, ""));
  }
  return Ok{};
}

// Only a record says what was synced.
Status ScenarioRun::RecordForPowerLoss() {
  constexpr uint64_t kBytesMax = 4ull << 30;
  const bool is_needed =
      options_.disturbed && std::ranges::any_of(scenario_.faults, [](const harness::Fault& fault) {
        return fault.kind->name == harness::kPowerLossName;
      });
  if (!is_needed || options_.files) return Ok{};
  if (!options_.blocks) {
    ASSIGN_OR_RETURN(auto blocks, harness::BlockStore::Make(options_.state, kBytesMax));
    options_.blocks = std::make_shared<harness::BlockStore>(std::move(blocks));
  }
  own_files_ = std::make_unique<FileRecorder>(options_.blocks);
  return Ok{};
}

Status ScenarioRun::Collect(std::map<std::string, FinalObject>& objects) {
  gcs::DirectoryStore& store = emulator_->buckets();
  ASSIGN_OR_RETURN(const std::vector<gcs::Bucket> buckets, store.ListBuckets());
  for (const gcs::Bucket& bucket : buckets) {
    gcs::ListQuery query;
    do {
      ASSIGN_OR_RETURN(const gcs::Listing page, store.List(bucket.name, query));
      for (const gcs::ObjectInfo& info : page.items) {
        const auto bytes = ReadForComparison(store, info);
        if (bytes.ok()) objects[info.bucket + "/" + info.name] = {*bytes, info.generation};
      }
      query.page_token = page.next_page_token;
    } while (!query.page_token.empty());
  }
  return volumes_->Collect(objects);
}

Status ScenarioRun::CollectTrials(const run::Job& job, Evidence& evidence) {
  ASSIGN_OR_RETURN(const auto kept, engine_->Trials(kProject, job.key.job_id));
  for (const engine::TrialRecord& trial : kept) {
    harness::FinalTrial& final = evidence.trials[trial.job.key.trial];
    final.state = run::Name(trial.job.state);
    for (const engine::Report& report : trial.reports) final.steps.push_back(report.step);
  }
  if (kept.empty()) return Ok{};
  ASSIGN_OR_RETURN(evidence.best_trial, scenario_.kind->BestTrialOf(job));
  return Ok{};
}

}  // namespace caip::scenario
