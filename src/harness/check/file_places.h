#pragma once
// Classifies the files that the replicas of a run touched by their places.

#include <string>
#include <vector>

#include "harness/check/check_run.h"

namespace caip::harness {

/// The session and the run must outlive it.
class FilePlaces {
 public:
  FilePlaces(const CheckSession& session, const CheckRun& run);

  /// "history.json in the current directory", or the file's whole path.
  std::string Shown(const TouchedFile& file) const;
  /// Whether the file is on the replica's own disk, which is deleted with the machine.
  bool IsOnBootDisk(const TouchedFile& file) const;
  /// Whether libraries or the service need the file: bytecode, caches, files that the replica's
  /// environment names.
  bool IsIncidental(const TouchedFile& file) const;
  /// Whether the file belongs to the program or its runtime, which the service has, too.
  bool IsOfProgram(const TouchedFile& file) const;
  /// "the source tree", "the current directory of this command", "your home" or "this machine".
  std::string OwnerOf(const std::string& path) const;

 private:
  const LaunchedReplica* ReplicaOf(const TouchedFile& file) const;

  const CheckSession& session_;
  const CheckRun& run_;
  std::vector<std::string> program_;  // folders of the program and its runtime
};

/// The files of this host that the replicas of the run read, and that no machine of the service
/// has: "master-0 read /srv/words.txt of this machine".
std::vector<std::string> FindFilesOfThisHost(const CheckSession& session, const CheckRun& run);

/// Whether `path` is the folder or is below it.
bool IsBelow(const std::string& path, const std::string& folder);

}  // namespace caip::harness
