#include "harness/explorer/baseline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "harness/expectations/counts.h"
#include "harness/explorer/start_counts.h"

namespace caip::harness {
namespace {

bool IsDigit(const std::string& text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// The end of the number that begins here: "12", "0.5", "1.5e-3".
size_t EndOfNumber(const std::string& text, size_t at) {
  while (IsDigit(text, at)) ++at;
  if (at >= text.size() || text[at] != '.' || !IsDigit(text, at + 1)) return at;
  for (++at; IsDigit(text, at); ++at) {
  }
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  size_t exponent = at + 1;
  if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
  if (!IsDigit(text, exponent)) return at;
  while (IsDigit(text, exponent)) ++exponent;
  return exponent;
}

// Splits a text into its whole numbers and the text without them. Numbers with a fraction are part
// of the text, because nothing counts with them.
std::pair<std::string, std::vector<int64_t>> SplitNumbers(const std::string& text) {
  constexpr size_t kDigitsMax = 18;
  std::pair<std::string, std::vector<int64_t>> parts;
  for (size_t i = 0; i < text.size();) {
    const size_t end = IsDigit(text, i) ? EndOfNumber(text, i) : i + 1;
    const std::string part = text.substr(i, end - i);
    const bool is_whole = part.find_first_not_of("0123456789") == std::string::npos;
    if (is_whole && part.size() <= kDigitsMax) {
      parts.second.push_back(std::stoll(part));
      parts.first += '#';
    } else {
      parts.first += part;
    }
    i = end;
  }
  return parts;
}

// The number of starts of a run with one start: most count from 1, some from 0.
bool IsFirstCount(int64_t number) { return number == 0 || number == 1; }

}  // namespace

bool CountsStarts(const std::string& before, const std::string& after, int64_t restarts) {
  if (before.size() > 200 || after.size() > 200) return false;
  const auto a = SplitNumbers(before);
  const auto b = SplitNumbers(after);
  if (a.first != b.first || a.second.size() != 1 || b.second.size() != 1) return false;
  const int64_t more = b.second.front() - a.second.front();
  return IsFirstCount(a.second.front()) && more >= 1 && more <= restarts;
}

bool CountsSecondStart(const std::string& once, const std::string& twice) {
  if (CountsStarts(once, twice)) return true;
  const auto a = SplitNumbers(once);
  const auto b = SplitNumbers(twice);
  if (a.first != b.first || a.second.size() != b.second.size()) return false;
  int differ = 0;
  for (size_t i = 0; i < a.second.size(); ++i) {
    if (a.second[i] == b.second[i]) continue;
    ++differ;
    if (!IsFirstCount(a.second[i]) || b.second[i] != a.second[i] + 1) return false;
  }
  return differ == 1;
}

std::set<std::string> RenamedPatterns(const Evidence& baseline, const Evidence& run) {
  std::map<std::string, int64_t> balance;
  std::map<std::string, int64_t> missing;
  for (const auto& [name, object] : baseline.objects) {
    if (run.objects.contains(name)) continue;
    --balance[WithoutNumbers(name)];
    ++missing[WithoutNumbers(name)];
  }
  for (const auto& [name, object] : run.objects) {
    if (!baseline.objects.contains(name)) ++balance[WithoutNumbers(name)];
  }
  std::set<std::string> renamed;
  for (const auto& [pattern, count] : balance) {
    if (count == 0 && missing[pattern] > 0) renamed.insert(pattern);
  }
  return renamed;
}

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
  changing_ = ChangingNames(run_.events, second.events);
  FindUnstable(second);
  FindResults();
}

void Baseline::FindUnstable(const Evidence& other) {
  const auto note_name = [this](const std::string& name) {
    const std::string glob = changing_.GlobOf(name);
    unstable_objects_.insert(glob.empty() ? name : glob);
    unstable_patterns_.insert(PatternOf(name));
  };
  for (const auto& [name, object] : run_.objects) {
    const auto twin = other.objects.find(name);
    if (twin == other.objects.end()) {
      note_name(name);
    } else if (!how_.objects.Equal(twin->second.bytes, object.bytes)) {
      unstable_objects_.insert(name);
    }
  }
  for (const auto& [name, object] : other.objects) {
    if (!run_.objects.contains(name)) note_name(name);
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
  // the differences of a failed run are not counters
  if (early_restart.state != "SUCCEEDED") return;
  const std::set<std::string> renamed = RenamedPatterns(run_, early_restart);
  std::set<std::string> other_values;  // patterns of objects that hold some
  const auto note = [&](const std::string& name, bool counts) {
    if (unstable_patterns_.contains(PatternOf(name))) return;
    const std::string pattern = WithoutNumbers(name);
    const bool explained = counts || renamed.contains(pattern);
    (explained ? counting_patterns_ : doubtful_patterns_).insert(pattern);
  };
  for (const auto& [name, object] : run_.objects) {
    const auto other = early_restart.objects.find(name);
    if (other == early_restart.objects.end()) {
      note(name, false);
      continue;
    }
    const std::string& bytes = other->second.bytes;
    if (how_.objects.Equal(bytes, object.bytes)) continue;
    early_contents_[name] = bytes;
    const ValueDifference difference = FindValueDifference(object.bytes, bytes, starts());
    const bool is_compared = !unstable_objects_.contains(name);
    if (difference.has_others && is_compared) other_values.insert(WithoutNumbers(name));
    if (difference.may_count) note(name, CountsSecondStart(object.bytes, bytes));
  }
  for (const auto& [name, object] : early_restart.objects) {
    if (run_.objects.contains(name)) continue;
    // If each start writes an object, the object's name may contain the number of the attempt.
    note(name, std::ranges::any_of(run_.objects, [&extra = name](const auto& mine) {
           return CountsStarts(mine.first, extra);
         }));
  }
  for (const std::string& pattern : doubtful_patterns_) counting_patterns_.erase(pattern);
  // Objects with such a name are compared, and those of them that count are doubted.
  for (const std::string& pattern : other_values) {
    if (counting_patterns_.erase(pattern) > 0) doubtful_patterns_.insert(pattern);
  }
}

size_t Baseline::starts() const {
  return static_cast<size_t>(std::ranges::count_if(
      run_.events, [](const Event& event) { return event.Is<StartEvent>(); }));
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
         !unstable_patterns_.contains(PatternOf(object)) &&
         !counting_patterns_.contains(WithoutNumbers(object));
}

bool Baseline::HasObjectLike(const std::string& object) const {
  const std::string pattern = WithoutNumbers(object);
  return std::ranges::any_of(
      run_.objects, [&](const auto& entry) { return WithoutNumbers(entry.first) == pattern; });
}

std::string Baseline::PatternOf(const std::string& object) const {
  const std::string glob = changing_.GlobOf(object);
  return WithoutNumbers(glob.empty() ? object : glob);
}

bool Baseline::MayCount(const std::string& object) const {
  return doubtful_patterns_.contains(WithoutNumbers(object));
}

const std::string& Baseline::EarlyContents(const std::string& object) const {
  static const std::string kSame;
  const auto found = early_contents_.find(object);
  return found == early_contents_.end() ? kSame : found->second;
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
