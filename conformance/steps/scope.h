#pragma once
// The state of a running case: its names, and the jobs that it created.

#include <set>
#include <string>

#include "conformance/format/case.h"
#include "conformance/steps/world.h"

namespace conform {

/// Lives as long as one case runs, in one worker.
class Scope {
 public:
  Scope(const World& world, Clients& clients, const Case& one, int number);

  const World& world() const { return world_; }
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
  const int number_;
  std::map<std::string, Json> names_;
  std::set<std::string> live_;  // paths of jobs
};

/// "/v1/projects/p/jobs/j"
std::string JobPath(const std::string& project, const std::string& id);

}  // namespace conform
