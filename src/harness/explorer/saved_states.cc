#include "harness/explorer/saved_states.h"

#include <algorithm>
#include <tuple>

#include "harness/explorer/baseline.h"

namespace caip::harness {
namespace {

// A file that is written under another name first is saved by its renaming.
std::string NameOfSave(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  if (operation && operation->op == "rename" && !operation->failed) return operation->from;
  const StorageEvent* write = FindWrite(event);
  return write ? write->object : "";
}

}  // namespace

void SavedStates::Add(const std::vector<Event>& run) {
  std::map<std::tuple<std::string, std::string, int>, int> writes;  // by name, replica and boot
  for (const Event& event : run) {
    const std::string name = NameOfSave(event);
    if (name.empty()) continue;
    const int count = ++writes[{WithoutNumbers(name), event.replica, event.boot}];
    int& most = most_[WithoutNumbers(name)];
    most = std::max(most, count);
    are_known_ = are_known_ || count > 1;
  }
}

bool SavedStates::MayBeState(const std::string& object) const {
  if (!are_known_) return true;
  for (std::string name = WithoutNumbers(object);; name.resize(name.rfind('/'))) {
    const auto found = most_.find(name);
    if (found != most_.end() && found->second > 1) return true;
    if (name.find('/') == std::string::npos) return false;
  }
}

}  // namespace caip::harness
