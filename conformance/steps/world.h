#pragma once
// The endpoint of a run and its parameters. Built once, then read by all workers.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "conformance/format/target.h"
#include "conformance/wire/wire.h"

namespace conform {

/// The URLs of the services of one endpoint.
struct ServiceUrls {
  std::string ml;
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
  std::vector<std::string> train_command;          // "gcloud ai-platform local train"

  std::string setting(const std::string& name) const;
};

/// The clients of one worker: one connection to each URL.
class Clients {
 public:
  explicit Clients(const World& world) : world_(world) {}
  /// Sends to "ml", "storage" or "logging" of an instance.
  Result<WireResponse> Send(const std::string& instance, const std::string& service,
                            WireRequest request);

 private:
  const World& world_;
  std::map<std::string, std::unique_ptr<WireClient>> clients_;  // by base URL
};

/// The service of a path. A case can name another.
std::string ServiceOf(const std::string& path);

}  // namespace conform
