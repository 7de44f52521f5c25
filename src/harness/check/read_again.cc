#include "harness/check/read_again.h"

#include <algorithm>
#include <set>

#include "harness/check/file_places.h"
#include "harness/explorer/other_state.h"

namespace caip::harness {
namespace {

/// The names of the files of a replica's first boot, after the events so far. A file that any
/// replica renames, also with its directory, stays the same file.
class FilesOfFirstBoot {
 public:
  explicit FilesOfFirstBoot(const std::string& replica) : replica_(replica) {}

  void Take(const Event& event) {
    std::vector<std::string> written = contents_.Take(event);
    const StorageEvent* operation = FindOperation(event);
    if (!operation || operation->failed) return;
    const bool renames = operation->op == "rename";
    if (written.empty() && renames) written.push_back(operation->from);  // it was on a disk
    const bool is_renamed = renames && RemoveBelow(operation->object);
    // Other writes may keep a part of the file.
    const bool replaces = operation->op != "overwrite" && operation->op != "truncate";
    for (const std::string& name : written) {
      if (IsOfFirstBoot(event) || is_renamed) {
        names_.insert(name);
      } else if (replaces) {
        names_.erase(name);
      }
    }
  }
  // The name may be that of the file's directory.
  bool Has(const std::string& name) const {
    return std::ranges::any_of(names_,
                               [&](const std::string& known) { return IsBelow(name, known); });
  }

 private:
  bool IsOfFirstBoot(const Event& event) const {
    return event.replica == replica_ && event.boot == 1;
  }
  bool RemoveBelow(const std::string& place) {
    return std::erase_if(names_, [&](const std::string& name) { return IsBelow(name, place); }) > 0;
  }

  std::string replica_;
  ObjectAges contents_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<std::string> FindReadAgain(const CheckRun& run, const std::string& replica) {
  FilesOfFirstBoot files(replica);
  std::vector<std::string> found;
  for (const Event& event : run.evidence.events) {
    files.Take(event);
    const auto* operation = event.As<StorageEvent>();
    const bool read = operation && operation->op == "read" && !operation->failed;
    if (!read || event.replica != replica || event.boot != 2) continue;
    if (files.Has(operation->object)) found.push_back(operation->object);
  }
  return found;
}

}  // namespace caip::harness
