#pragma once
// How far a run is: what the engine must know again after the emulator itself was killed.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "run/api_port.h"
#include "run/lifecycle.h"
#include "run/replica.h"

namespace caip::engine {

/// What the launcher has answered for an image: the command of the host that replaces it, or where
/// it is, in the launcher's own words.
struct ImageAnswer {
  std::vector<std::string> entrypoint = {};  // empty: the image brings its own program
  std::string source = {};                   // "": the image of that URI
  bool operator==(const ImageAnswer&) const = default;
};
using ImageAnswers = std::map<std::string, ImageAnswer>;  // by URI

struct ReplicaNote {
  int boot = 0;           // starts so far, over all attempts
  int restarts = 0;       // in this attempt
  bool finished = false;  // ended by itself in this attempt; not to be started again
};

/// How the job will end once everything is stopped: kSucceeded, kGaveUp or kAllStopped.
struct Ending {
  run::JobEvent as = run::JobEvent::kAllStopped;
  std::string message;  // errorMessage
  run::EndCause cause = run::EndCause::kNone;
};

/// The decided failure of a job whose failed replica runs once more.
struct FailingEnd {
  run::ReplicaId replica;
  std::string message;
  run::EndCause cause = run::EndCause::kNone;
};

/// JobRecord::note as a value. Deadlines are not in it: they follow from createTime and startTime.
struct RunNote {
  run::RunNames names;
  int attempt = 1;        // of the whole job
  int loss_restarts = 0;  // of those, after a lost machine, which do not count as retries
  Instant queued_until{};
  int failed_tries = 0;  // of the queue model's stock-out
  bool out_of_stock = false;
  std::vector<std::string> addresses;  // in the order of the plan
  // How the job was understood when it was submitted: an emulator with other settings that takes it
  // up later runs the same commands on the same directory.
  ImageAnswers images;
  std::string output_directory;  // as replicas see it; "": the job's URI
  run::ByReplica<ReplicaNote> replicas;
  std::optional<FailingEnd> failing;
  std::optional<Ending> ending;

  // Of a trial.
  tuning::ValueTexts values;
  bool stopped_early = false;
};

Json ToJson(const RunNote& note);
/// kDataLoss when the store holds something else.
Result<RunNote> ParseRunNote(const Json& json);

}  // namespace caip::engine
