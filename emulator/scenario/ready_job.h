#pragma once
// The job of a scenario, whatever its API, ready to be created on the emulator that runs it.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/app/emulator.h"
#include "emulator/scenario/job_words.h"
#include "harness/scenario/scenario.h"
#include "run/job.h"

namespace caip::scenario {

inline constexpr char kProject[] = "scenario";
inline constexpr char kJobId[] = "scenario";  // of a training job
inline constexpr char kImage[] = "gcr.io/caip/scenario:trainer";
inline constexpr char kJobDir[] = "gs://job/out";

/// Container images, with the local commands that replace them.
using LocalImages = std::map<std::string, std::vector<std::string>>;

/// Made before the emulator starts, which needs its images. Immutable.
class ReadyJob {
 public:
  virtual ~ReadyJob() = default;
  /// The images that the job itself brings: those of local packages.
  const LocalImages& images() const { return images_; }
  /// The job's id in a run.
  std::string id(bool once_more = false) const { return kind_.IdOf(once_more); }

  /// Creates the job, or creates it once more after it has ended. Errors have the client's texts.
  virtual Status Create(app::Emulator& emulator, bool once_more = false) const = 0;

 protected:
  ReadyJob(const harness::JobKind& kind, LocalImages images)
      : kind_(kind), images_(std::move(images)) {}

  const harness::JobKind& kind_;

 private:
  LocalImages images_;
};

/// `read` parses the words of a scenario that has some. `buckets`: the directory in which replicas
/// find buckets as directories.
Result<std::unique_ptr<const ReadyJob>> MakeReadyJob(const harness::Scenario& scenario,
                                                     const ReadJobWords& read, const Path& buckets);

/// The CustomJob or HyperparameterTuningJob that gcloud would send, with the image of a local
/// package.
struct MergedVertexJob {
  const harness::JobKind* kind = nullptr;
  Json document;
  std::string region;
  LocalImages images = {};
  std::string warning = {};  // what gcloud would have installed; "" if nothing
};
/// The words are those of a job of Vertex AI. Project and region are optional.
Result<MergedVertexJob> MergeVertexJob(JobWords words);

/// Adds the container images of the scenario's trainer.
void AddImages(const harness::Scenario& scenario, const Path& buckets, LocalImages& images);

/// A command of the scenario's trainer as replicas run it. Words that name files beside the
/// scenario become their paths, unless the trainer has a working directory.
std::vector<std::string> CompleteCommand(const harness::Scenario& scenario,
                                         const std::vector<std::string>& command,
                                         const Path& buckets);

/// Creates the job once more, waits until it ends, at most for limits.wall, and returns its state.
/// "" after the limit, or if `interrupted` (may be null).
Result<std::string> RunOnceMore(const harness::Scenario& scenario, const ReadyJob& job,
                                app::Emulator& emulator, const std::function<bool()>& interrupted);

/// Fails if a fault names a replica that the job, as the service accepted it, does not have.
Status CheckReplicas(const harness::Scenario& scenario, const run::Job& job);

}  // namespace caip::scenario
