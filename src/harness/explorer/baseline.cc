#include "harness/explorer/baseline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/expectations/counts.h"
#include "harness/explorer/start_counters.h"

namespace caip::harness {
namespace {

bool SameSteps(const StepRecords& a, const StepRecords& b) {
  return std::ranges::equal(
      a, b, {}, [](const auto& one) { return one.first; },
      [](const auto& one) { return one.first; });
}

}  // namespace

Baseline::Baseline(Evidence first, Evidence second, TwinComparison how)
    : run_(std::move(first)), how_(std::move(how)) {
  for (const std::string& replica : ReplicasWithSteps(run_)) {
    if (how_.steps.ComparesReplica(replica)) replicas_.insert(replica);
  }
  FindUnstable(second);
  FindResults();
}

void Baseline::FindUnstable(const Evidence& other) {
  for (const auto& [name, object] : run_.objects) {
    const auto twin = other.objects.find(name);
    if (twin == other.objects.end() || !how_.objects.Equal(twin->second.bytes, object.bytes)) {
      unstable_objects_.insert(name);
    }
  }
  for (const auto& [name, object] : other.objects) {
    if (!run_.objects.contains(name)) unstable_objects_.insert(name);
  }
  for (const std::string& name : unstable_objects_) {
    if (!run_.objects.contains(name) || !other.objects.contains(name)) {
      unstable_patterns_.insert(WithoutNumbers(name));
    }
  }
  for (const std::string& replica : replicas_) {
    const StepRecords mine = EffectiveSteps(run_, replica);
    const StepRecords twins = EffectiveSteps(other, replica);
    if (!SameSteps(mine, twins)) steps_are_stable_ = false;
    for (const auto& [step, record] : mine) {
      const auto twin = twins.find(step);
      if (twin == twins.end()) continue;
      unstable_fields_.merge(DifferingFields(record, twin->second, how_.steps));
    }
  }
}

void Baseline::Learn(const Evidence& early_restart) {
  if (early_restart.state != "SUCCEEDED") return;  // a failure is not a counter
  const std::set<std::string> renamed = RenamedPatterns(run_, early_restart);
  const auto note = [&](const std::string& name, bool counts) {
    const std::string pattern = WithoutNumbers(name);
    const bool explained = counts || renamed.contains(pattern);
    (explained ? counting_patterns_ : doubtful_patterns_).insert(pattern);
  };
  for (const auto& [name, object] : run_.objects) {
    const auto other = early_restart.objects.find(name);
    if (other == early_restart.objects.end()) {
      note(name, false);
    } else if (!how_.objects.Equal(other->second.bytes, object.bytes)) {
      note(name, CountsSecondStart(object.bytes, other->second.bytes));
    }
  }
  for (const auto& [name, object] : early_restart.objects) {
    if (run_.objects.contains(name)) continue;
    // One for each start, which have the number of the attempt in their names.
    note(name, std::ranges::any_of(run_.objects, [&extra = name](const auto& mine) {
           return CountsStarts(mine.first, extra);
         }));
  }
  for (const std::string& pattern : doubtful_patterns_) counting_patterns_.erase(pattern);
}

void Baseline::FindResults() {
  size_t last_step = 0;
  for (size_t i = 0; i < run_.events.size(); ++i) {
    if (run_.events[i].Is<StepEvent>()) last_step = i;
  }
  std::map<std::string, int> writes;
  for (size_t i = 0; i < run_.events.size(); ++i) {
    const StorageEvent* write = FindWrite(run_.events[i]);
    if (!write) continue;
    ++writes[write->object];
    if (i > last_step && last_step > 0) results_.insert(write->object);
  }
  std::erase_if(results_, [&](const std::string& name) {
    return writes[name] > 1 || !run_.objects.contains(name);
  });
}

bool Baseline::Compares(const std::string& object) const {
  return how_.objects.Compares(object) && !unstable_objects_.contains(object) &&
         !unstable_patterns_.contains(WithoutNumbers(object)) &&
         !counting_patterns_.contains(WithoutNumbers(object));
}

bool Baseline::MayCount(const std::string& object) const {
  return doubtful_patterns_.contains(WithoutNumbers(object));
}

std::set<std::string> DifferingFields(const Json& a, const Json& b, const StepComparison& how) {
  std::set<std::string> fields;
  for (const auto& [name, value] : a.items()) {
    const Json* other = Member(b, name);
    if (how.Compares(name) && (!other || !how.Equal(value, *other))) fields.insert(name);
  }
  for (const auto& [name, value] : b.items()) {
    if (how.Compares(name) && !a.contains(name)) fields.insert(name);
  }
  return fields;
}

std::string WithoutNumbers(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      plain += c;
    } else if (plain.empty() || plain.back() != '#') {
      plain += '#';
    }
  }
  return plain;
}

}  // namespace caip::harness
