#include "harness/explorer/changing_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>
#include <utility>

#include "harness/explorer/baseline.h"
#include "harness/faults/trigger.h"

namespace caip::harness {
namespace {

std::set<std::string> NamesIn(const std::vector<Event>& run) {
  std::set<std::string> names;
  for (const Event& event : run) {
    const StorageEvent* operation = FindOperation(event);
    if (!operation) continue;
    names.insert(operation->object);
    if (!operation->from.empty() && operation->op != "symlink") names.insert(operation->from);
  }
  return names;
}

std::set<std::string> Without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> rest;
  std::ranges::set_difference(all, some, std::inserter(rest, rest.end()));
  return rest;
}

std::pair<std::string, std::string> SplitName(const std::string& name) {
  const size_t end = name.rfind('/') + 1;
  return {name.substr(0, end), name.substr(end)};
}

// What corresponding names have in common.
using Kind = std::tuple<std::string, size_t, std::string>;
Kind KindOf(const std::string& name) {
  const auto [directory, file] = SplitName(name);
  std::string punctuation;
  for (const char c : file) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') punctuation += c;
  }
  return {WithoutNumbers(directory), file.size(), punctuation};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "*" for the part in which the files, which are of one kind, differ, and for digits beside it: two
// process ids begin alike by chance. "" if nothing else is left.
std::string GlobOfKind(const std::set<std::string>& files) {
  const std::string& first = *files.begin();
  size_t front = first.size();
  size_t back = first.size();
  for (const std::string& file : files) {
    const auto ahead = std::ranges::mismatch(first, file).in1 - first.begin();
    const auto differs = std::mismatch(first.rbegin(), first.rend(), file.rbegin()).first;
    front = std::min(front, static_cast<size_t>(ahead));
    back = std::min(back, static_cast<size_t>(differs - first.rbegin()));
  }
  back = std::min(back, first.size() - front);
  while (front > 0 && IsDigit(first[front - 1])) --front;
  while (back > 0 && IsDigit(first[first.size() - back])) --back;
  const std::string kept = first.substr(0, front) + first.substr(first.size() - back);
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (std::ranges::none_of(kept, is_letter)) return "";
  return first.substr(0, front) + "*" + first.substr(first.size() - back);
}

}  // namespace

std::map<std::string, std::string> ChangingNames(const std::vector<Event>& run,
                                                 const std::vector<Event>& other) {
  const std::set<std::string> mine = NamesIn(run);
  const std::set<std::string> theirs = NamesIn(other);
  const std::set<std::string> changing = Without(mine, theirs);
  std::map<Kind, std::set<std::string>> files;
  std::set<Kind> in_both;
  for (const std::string& name : changing) files[KindOf(name)].insert(SplitName(name).second);
  for (const std::string& name : Without(theirs, mine)) {
    const auto found = files.find(KindOf(name));
    if (found == files.end()) continue;
    found->second.insert(SplitName(name).second);
    in_both.insert(found->first);
  }
  std::map<std::string, std::string> globs;
  for (const std::string& name : changing) {
    const Kind kind = KindOf(name);
    const std::string glob = in_both.contains(kind) ? GlobOfKind(files.at(kind)) : "";
    if (!glob.empty()) globs[name] = SplitName(name).first + glob;
  }
  return globs;
}

std::string GlobOf(const std::map<std::string, std::string>& globs, const std::string& name) {
  if (globs.empty()) return "";
  if (const auto known = globs.find(name); known != globs.end()) return known->second;
  const Kind kind = KindOf(name);
  const auto like = std::ranges::find_if(globs, [&](const auto& entry) {
    return GlobMatches(entry.second, name) && KindOf(entry.first) == kind;
  });
  return like == globs.end() ? "" : like->second;
}

}  // namespace caip::harness
