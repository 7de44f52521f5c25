#pragma once
// Sorts the files that a replica of a run touched by their owner.

#include <string>
#include <vector>

#include "harness/check/check_run.h"

namespace caip::harness {

/// Borrows the session.
class FilePlaces {
 public:
  FilePlaces(const CheckSession& session, const CheckRun& run);

  /// "history.json in the current directory", or its whole path.
  std::string Shown(const TouchedFile& file) const;
  /// The file is on the replica's own disk, which is deleted with the machine.
  bool IsOnBootDisk(const TouchedFile& file) const;
  /// A file that libraries or the service need: bytecode, caches, files that the replica's
  /// environment names.
  bool IsIncidental(const TouchedFile& file) const;
  /// The program itself and its runtime, which the service has, too.
  bool IsOfProgram(const TouchedFile& file) const;
  /// "the source tree", "your home", "the current directory" or "this machine".
  std::string OwnerOf(const std::string& path) const;

 private:
  const LaunchedReplica* ReplicaOf(const TouchedFile& file) const;

  const CheckSession& session_;
  const CheckRun& run_;
  std::vector<std::string> program_;  // folders
};

/// `path` is the folder or lies below it.
bool IsBelow(const std::string& path, const std::string& folder);

}  // namespace caip::harness
