#include "harness/explorer/other_state.h"

#include <set>
#include <utility>

namespace caip::harness {

std::vector<std::string> ObjectAges::Take(const Event& event) {
  if (event.Is<StartEvent>()) steps_.erase(event.replica);
  if (const auto* step = event.As<StepEvent>()) steps_[event.replica] = step->step;
  const StorageEvent* operation = FindOperation(event);
  if (!operation || operation->failed) return {};
  if (operation->op == "rename") return Rename(operation->object, operation->from);
  if (operation->op == "delete") ages_.erase(operation->object);
  if (operation->op == "move") ages_.erase(operation->from);
  if (!FindWrite(event)) return {};
  const auto step = steps_.find(event.replica);
  ages_[operation->object] = step == steps_.end() ? std::nullopt : std::optional(step->second);
  return {operation->object};
}

std::vector<std::string> ObjectAges::Rename(const std::string& from, const std::string& to) {
  std::vector<std::pair<std::string, std::optional<int64_t>>> moved;
  const std::string below = from + "/";
  if (const auto file = ages_.extract(from)) moved.emplace_back(to, file.mapped());
  for (auto at = ages_.lower_bound(below); at != ages_.end() && at->first.starts_with(below);) {
    moved.emplace_back(to + at->first.substr(from.size()), at->second);
    at = ages_.erase(at);
  }
  std::vector<std::string> names;
  for (auto& [name, age] : moved) {
    ages_[name] = age;
    names.push_back(std::move(name));
  }
  return names;
}

std::optional<int64_t> ObjectAges::AgeOf(const std::string& name) const {
  const auto found = ages_.find(name);
  return found == ages_.end() ? std::nullopt : found->second;
}

namespace {

std::vector<std::string> NumbersIn(const std::string& name) {
  std::vector<std::string> numbers;
  bool in_number = false;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !in_number) numbers.emplace_back();
    if (is_digit) numbers.back() += c;
    in_number = is_digit;
  }
  return numbers;
}

/// The families of the objects of a baseline run. Objects of a family hold the same part of the
/// state at different ages: "ckpt-10/shard-2" and "ckpt-20/shard-2" are of "ckpt-#/shard-2".
class Families {
 public:
  explicit Families(const std::vector<Event>& events) {
    std::vector<std::pair<std::string, int64_t>> writes;
    ObjectAges ages;
    for (const Event& event : events) {
      for (std::string& name : ages.Take(event)) {
        if (const auto age = ages.AgeOf(name)) writes.emplace_back(std::move(name), *age);
      }
    }
    FindParts(writes);
    for (const auto& [name, age] : writes) ages_[FamilyOf(name)].insert(age);
  }

  std::string FamilyOf(const std::string& name) const {
    const std::string pattern = WithoutNumbers(name);
    const auto parts = parts_.find(pattern);
    const std::vector<std::string> numbers = NumbersIn(name);
    std::string family;
    size_t i = 0;
    for (const char c : pattern) {
      const bool is_number = c == '#' && i < numbers.size();
      const bool is_part = is_number && parts != parts_.end() && parts->second.contains(i);
      family += is_part ? numbers[i] : std::string(1, c);
      if (is_number) ++i;
    }
    return family;
  }

  /// Whether the baseline run wrote both families at the same, at least two, ages.
  bool AreWrittenTogether(const std::string& a, const std::string& b) const {
    const auto first = ages_.find(a);
    const auto second = ages_.find(b);
    if (first == ages_.end() || second == ages_.end()) return false;
    return first->second.size() >= 2 && first->second == second->second;
  }

 private:
  // A number in a name that differs between objects of one age names a part, not an age.
  void FindParts(const std::vector<std::pair<std::string, int64_t>>& writes) {
    std::map<std::pair<std::string, int64_t>, std::vector<std::string>> first;
    for (const auto& [name, age] : writes) {
      const std::string pattern = WithoutNumbers(name);
      const std::vector<std::string> numbers = NumbersIn(name);
      const auto& other = first.try_emplace({pattern, age}, numbers).first->second;
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (i < other.size() && numbers[i] != other[i]) parts_[pattern].insert(i);
      }
    }
  }

  std::map<std::string, std::set<size_t>> parts_;  // by pattern: which numbers name parts
  std::map<std::string, std::set<int64_t>> ages_;  // by family
};

struct ObjectRead {
  std::string name;
  int64_t age = 0;
};

// The last object of each family that the first boot after the point reads before its first step.
std::map<std::string, ObjectRead> ReadsOf(const CrashPoint& point, const Evidence& recovery,
                                          const Families& families) {
  std::map<std::string, ObjectRead> reads;
  ObjectAges ages;
  int boot = 0;
  for (size_t i = 0; i < recovery.events.size(); ++i) {
    const Event& event = recovery.events[i];
    ages.Take(event);
    if (event.replica != point.replica) continue;
    if (boot == 0 && i >= point.events && event.Is<StartEvent>()) boot = event.boot;
    if (boot == 0 || event.boot != boot) continue;
    if (event.Is<StepEvent>()) break;
    const auto* read = event.As<StorageEvent>();
    if (!read || read->op != "read" || read->failed) continue;
    if (const auto age = ages.AgeOf(read->object)) {
      reads[families.FamilyOf(read->object)] = {read->object, *age};
    }
  }
  return reads;
}

Flaw MixtureOf(const ObjectRead& newer, const ObjectRead& older) {
  Flaw flaw{std::string(kOtherState) + ": " + WithoutNumbers(older.name) + " beside " +
                WithoutNumbers(newer.name),
            "after the restart, it reads objects that were written after the same step",
            "it reads " + newer.name + ", written after step " + std::to_string(newer.age) +
                ", and " + older.name + ", written after step " + std::to_string(older.age)};
  flaw.kind = Flaw::Kind::kOtherState;
  return flaw;
}

}  // namespace

std::optional<Flaw> FindMixture(const Baseline& baseline, const CrashPoint& point,
                                const Evidence& recovery) {
  const Families families(baseline.run().events);
  const std::map<std::string, ObjectRead> reads = ReadsOf(point, recovery, families);
  for (const auto& [family, read] : reads) {
    for (const auto& [other_family, other] : reads) {
      if (read.age <= other.age) continue;
      if (families.AreWrittenTogether(family, other_family)) return MixtureOf(read, other);
    }
  }
  return std::nullopt;
}

}  // namespace caip::harness
