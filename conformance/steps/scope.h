#pragma once
// The endpoint of a run with its parameters, and the state of a running case.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "conformance/format/case_file.h"
#include "conformance/format/target.h"
#include "conformance/wire/wire.h"

namespace conform {

/// The URLs of the services of one endpoint.
struct ServiceUrls {
  std::string ml;
  std::string vertex;
  std::string storage;
  std::string logging;
};

struct World {
  Target target;
  std::map<std::string, ServiceUrls> instances;  // "" is the main one
  Trust trust;
  std::string token;                               // bearer token; "": none
  std::map<std::string, Json> jobs;                // templates of jobs (jobs.yaml)
  std::string home;                                // the folder of cases, rules and the probe
  std::string scratch;                             // a folder of this run, deleted at its end
  std::chrono::milliseconds call_patience{10000};  // for one answer
  std::chrono::milliseconds job_patience{60000};   // for a job to reach a state
  std::chrono::milliseconds log_patience{3000};    // for log lines to arrive
  std::vector<std::string> submit_command;         // "gcloud ai-platform jobs submit training"
  std::vector<std::string> custom_job_command;     // "gcloud ai custom-jobs create"
  std::vector<std::string> train_command;          // "gcloud ai-platform local train"

  std::string setting(const std::string& name) const;
};

/// The clients of one worker: one connection to each URL.
class Clients {
 public:
  explicit Clients(const World& world) : world_(world) {}
  /// Sends to "ml", "vertex", "storage" or "logging" of an instance.
  Result<WireResponse> Send(const std::string& instance, const std::string& service,
                            WireRequest request);

 private:
  const World& world_;
  std::map<std::string, std::unique_ptr<WireClient>> clients_;  // by base URL
};

/// The service of a path. A case can name another.
std::string ServiceOf(const std::string& path);

/// Lives as long as one case runs, in one worker.
class Scope {
 public:
  Scope(const World& world, Clients& clients, const Case& one, int number);

  const World& world() const { return world_; }
  /// The service of a path: that of its API if storage and logging do not have it.
  std::string ServiceFor(const std::string& path) const;
  /// Fills the names of a step. A name without a value is a problem.
  Result<Json> Filled(const Json& tree);
  void Save(const std::string& name, const Json& value) { names_[name] = value; }

  /// Sends to a service of the case's instance. Returns {status, headers, body, text}; `body` only
  /// if the answer is JSON.
  Result<Json> Send(const std::string& service, WireRequest request);
  /// Records a created job. CleanUp cancels it unless it has ended.
  void NoteJob(const std::string& project, const std::string& id);
  void NoteEnded(const std::string& project, const std::string& id);
  /// Cancels running jobs.
  void CleanUp();

 private:
  std::string FreshId(const std::string& name);

  const World& world_;
  Clients& clients_;
  const std::string instance_;
  const std::string api_;
  const int number_;
  std::map<std::string, Json> names_;
  std::set<std::string> live_;  // paths of jobs
};

/// "/v1/projects/p/jobs/j". A job of Vertex AI has its whole name as its id:
/// "/v1/projects/1/locations/r/customJobs/2".
std::string JobPath(const std::string& project, const std::string& id);

}  // namespace conform
