#pragma once
// What one running case knows: its names, and what it left at the endpoint.

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
  /// Fills the names of a step; a problem where one has no value.
  Result<Json> Filled(const Json& tree);
  void Save(const std::string& name, const Json& value) { names_[name] = value; }

  /// Sends to a service of the case's instance. The answer as {status, headers, body, text}; `body`
  /// is there where it is JSON.
  Result<Json> Send(const std::string& service, WireRequest request);
  /// A job was made: it is cancelled when the case is over, unless it has ended.
  void NoteJob(const std::string& project, const std::string& id);
  void NoteEnded(const std::string& project, const std::string& id);
  /// Cancels what still runs.
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
