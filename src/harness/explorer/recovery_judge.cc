#include "harness/explorer/recovery_judge.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "harness/expectations/counts.h"

namespace caip::harness {
namespace {

using Kind = Happening::Kind;

bool IsWrite(const Happening& h) {
  return h.kind == Kind::kStorage && !h.failed &&
         (h.op == "create" || h.op == "overwrite" || h.op == "copy" || h.op == "move");
}

std::set<int64_t> NumbersOf(const StepRecords& records) {
  std::set<int64_t> numbers;
  for (const auto& [step, record] : records) numbers.insert(step);
  return numbers;
}

// Fields that say which boot it is are no result.
bool IsOfTheBoot(const std::string& field) { return field == "attempt" || field == "boot"; }

std::set<std::string> DifferingFields(const Json& a, const Json& b) {
  std::set<std::string> fields;
  for (const auto& [name, value] : a.items()) {
    const Json* other = Member(b, name);
    if (!other || *other != value) fields.insert(name);
  }
  for (const auto& [name, value] : b.items()) {
    if (!a.contains(name)) fields.insert(name);
  }
  return fields;
}

std::string LastLine(const std::string& text) {
  std::string last;
  for (const std::string& line : Split(text, '\n')) {
    const bool link = line.find("To find out more") != std::string::npos;
    if (!link && !Trim(line).empty()) last = std::string(Trim(line));
  }
  return last;
}

void JudgeOutcome(const Evidence& run, std::vector<Flaw>& flaws) {
  if (!run.broke_off.empty()) {
    flaws.push_back({"the job does not end", "SUCCEEDED", run.broke_off});
  } else if (run.state != "SUCCEEDED") {
    const std::string last = LastLine(run.error_message);
    flaws.push_back({"the job ends " + run.state + ": " + WithoutNumbers(last), "SUCCEEDED",
                     run.state + ": " + last});
  }
}

std::set<int64_t> Without(const std::set<int64_t>& all, const std::set<int64_t>& some) {
  std::set<int64_t> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

void JudgeSteps(const Peace& peace, const std::string& replica, const Evidence& run,
                std::vector<Flaw>& flaws) {
  const StepRecords wanted = EffectiveSteps(peace.run(), replica);
  const StepRecords found = EffectiveSteps(run, replica);
  const std::set<int64_t> missing = Without(NumbersOf(wanted), NumbersOf(found));
  const std::set<int64_t> surplus = Without(NumbersOf(found), NumbersOf(wanted));
  const std::string whose = replica + ": ";
  if (!missing.empty()) {
    flaws.push_back({"steps are never done", whose + "steps " + Runs(NumbersOf(wanted)),
                     "without " + Runs(missing)});
  }
  if (!surplus.empty()) {
    flaws.push_back({"steps are done that nobody asked for",
                     whose + "steps " + Runs(NumbersOf(wanted)), "and " + Runs(surplus)});
  }
  for (const auto& [step, record] : wanted) {
    const auto other = found.find(step);
    if (other == found.end()) continue;
    for (const std::string& field : DifferingFields(record.record, other->second.record)) {
      if (IsOfTheBoot(field) || peace.unstable_fields().contains(field)) continue;
      const Json* a = Member(record.record, field);
      const Json* b = Member(other->second.record, field);
      flaws.push_back(
          {"steps differ in '" + field + "'",
           whose + "step " + std::to_string(step) + " " + (a ? CompactJson(*a) : "none"),
           b ? CompactJson(*b) : "none"});
      return;  // the first one; what follows follows from it
    }
  }
}

// Numbers cut out of a text, and the text without them.
std::pair<std::string, std::vector<int64_t>> Numbers(const std::string& text) {
  std::pair<std::string, std::vector<int64_t>> parts;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9' && end - i < 18) ++end;
    if (end > i) {
      parts.second.push_back(std::stoll(text.substr(i, end - i)));
      parts.first += '#';
      i = end - 1;
    } else {
      parts.first += text[i];
    }
  }
  return parts;
}

// A count of starts is one higher behind a restart, and nothing is wrong with it.
bool CountsStarts(const std::string& before, const std::string& after) {
  if (before.size() > 200 || after.size() > 200) return false;
  const auto a = Numbers(before);
  const auto b = Numbers(after);
  if (a.first != b.first || a.second.size() != 1 || b.second.size() != 1) return false;
  return b.second.front() == a.second.front() + 1;
}

// Names with a number of the attempt in them: as many of the pattern are left over as are missing.
std::set<std::string> RenamedPatterns(const Peace& peace, const Evidence& run) {
  std::map<std::string, int64_t> balance;
  std::map<std::string, int64_t> missing;
  for (const auto& [name, object] : peace.run().objects) {
    if (run.objects.contains(name)) continue;
    --balance[WithoutNumbers(name)];
    ++missing[WithoutNumbers(name)];
  }
  for (const auto& [name, object] : run.objects) {
    if (!peace.run().objects.contains(name)) ++balance[WithoutNumbers(name)];
  }
  std::set<std::string> renamed;
  for (const auto& [pattern, count] : balance) {
    if (count == 0 && missing[pattern] > 0) renamed.insert(pattern);
  }
  return renamed;
}

void JudgeObjects(const Peace& peace, const Evidence& run, std::vector<Flaw>& flaws) {
  std::map<std::string, Flaw> by_cause;
  const std::set<std::string> renamed = RenamedPatterns(peace, run);
  const auto add = [&](const std::string& what, const std::string& name,
                       const std::string& expected, const std::string& found) {
    if (renamed.contains(WithoutNumbers(name))) return;
    if (peace.unstable_patterns().contains(WithoutNumbers(name))) return;
    if (peace.counting_patterns().contains(WithoutNumbers(name))) return;
    const std::string cause = what + ": " + WithoutNumbers(name);
    by_cause.try_emplace(cause, Flaw{cause, name + ": " + expected, found});
  };
  for (const auto& [name, object] : peace.run().objects) {
    if (peace.unstable_objects().contains(name)) continue;
    const auto mine = run.objects.find(name);
    if (mine == run.objects.end()) {
      add("objects are missing in the end", name, "there", "not there");
    } else if (mine->second.bytes != object.bytes &&
               !CountsStarts(object.bytes, mine->second.bytes)) {
      add("objects hold something else", name, object.bytes.substr(0, 60),
          mine->second.bytes.substr(0, 60));
    }
  }
  for (const auto& [name, object] : run.objects) {
    const bool known =
        peace.run().objects.contains(name) || peace.unstable_objects().contains(name);
    if (!known) add("objects are left over", name, "gone", "there");
  }
  for (auto& [cause, flaw] : by_cause) flaws.push_back(std::move(flaw));
}

std::string FolderOf(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

// A result that was whole, with all its neighbours, when the machine went, is not made again.
void JudgeResults(const Peace& peace, const CrashPoint& point, const Evidence& run,
                  std::vector<Flaw>& flaws) {
  std::set<std::string> there;
  size_t at = 0;
  for (; at < std::min(point.events, run.happenings.size()); ++at) {
    if (IsWrite(run.happenings[at])) there.insert(run.happenings[at].object);
  }
  std::set<std::string> told;
  for (; at < run.happenings.size(); ++at) {
    const Happening& h = run.happenings[at];
    if (!IsWrite(h) || !peace.results().contains(h.object) || !there.contains(h.object)) continue;
    const std::string folder = FolderOf(h.object);
    const bool whole = std::all_of(
        peace.results().begin(), peace.results().end(),
        [&](const std::string& name) { return FolderOf(name) != folder || there.contains(name); });
    if (!whole || !told.insert(folder).second) continue;
    flaws.push_back({"a result that was whole is written again: " + WithoutNumbers(folder),
                     h.object + " written once",
                     "written again at event " + std::to_string(h.number)});
  }
}

std::optional<int64_t> FirstStepOf(const Evidence& run, const std::string& replica) {
  for (const Happening& h : run.happenings) {
    if (h.kind == Kind::kStep && h.replica == replica) return h.step;
  }
  return std::nullopt;
}

// Whatever was written, each restart began at the very first step again: all but those behind which
// nothing was left to do.
std::map<size_t, Flaw> NothingTakenUp(const Peace& peace, const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> lost;
  if (!peace.steps_are_stable()) return lost;
  for (const std::string& replica : peace.replicas()) {
    const auto first = FirstStepOf(peace.run(), replica);
    std::vector<size_t> from_scratch;
    size_t taken_up = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool wrote = all[i].point.changes > 0 && all[i].point.replica == replica;
      if (!wrote || !all[i].first_step) continue;
      (*all[i].first_step == *first ? from_scratch.push_back(i) : void(++taken_up));
    }
    if (taken_up > 0 || from_scratch.size() < 3) continue;
    const size_t last = from_scratch.back();
    lost[last] = {"nothing that was written is ever taken up: each restart begins at the start",
                  "a step behind " + std::to_string(*first), "step " + std::to_string(*first)};
  }
  return lost;
}

}  // namespace

Peace::Peace(Evidence first, Evidence second) : run_(std::move(first)) {
  replicas_ = ReplicasWithSteps(run_);
  FindUnstable(second);
  FindResults();
}

void Peace::FindUnstable(const Evidence& other) {
  for (const auto& [name, object] : run_.objects) {
    const auto twin = other.objects.find(name);
    if (twin == other.objects.end() || twin->second.bytes != object.bytes) {
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
    if (NumbersOf(mine) != NumbersOf(twins)) steps_are_stable_ = false;
    for (const auto& [step, record] : mine) {
      const auto twin = twins.find(step);
      if (twin == twins.end()) continue;
      unstable_fields_.merge(DifferingFields(record.record, twin->second.record));
    }
  }
}

void Peace::Learn(const Evidence& early_restart) {
  if (early_restart.state != "SUCCEEDED") return;  // that is no matter of counting
  for (const auto& [name, object] : run_.objects) {
    const auto other = early_restart.objects.find(name);
    const bool same = other != early_restart.objects.end() && other->second.bytes == object.bytes;
    if (!same) counting_patterns_.insert(WithoutNumbers(name));
  }
  for (const auto& [name, object] : early_restart.objects) {
    if (!run_.objects.contains(name)) counting_patterns_.insert(WithoutNumbers(name));
  }
}

void Peace::FindResults() {
  size_t last_step = 0;
  for (size_t i = 0; i < run_.happenings.size(); ++i) {
    if (run_.happenings[i].kind == Kind::kStep) last_step = i;
  }
  std::map<std::string, int> writes;
  for (size_t i = 0; i < run_.happenings.size(); ++i) {
    const Happening& h = run_.happenings[i];
    if (!IsWrite(h)) continue;
    ++writes[h.object];
    if (i > last_step && last_step > 0) results_.insert(h.object);
  }
  std::erase_if(results_, [&](const std::string& name) {
    return writes[name] > 1 || !run_.objects.contains(name);
  });
}

std::vector<Flaw> JudgeRecovery(const Peace& peace, const CrashPoint& point,
                                const Evidence& recovery) {
  std::vector<Flaw> flaws;
  JudgeOutcome(recovery, flaws);
  if (!flaws.empty()) return flaws;  // the rest follows from it
  if (peace.steps_are_stable()) {
    for (const std::string& replica : peace.replicas()) {
      JudgeSteps(peace, replica, recovery, flaws);
    }
  }
  JudgeObjects(peace, recovery, flaws);
  JudgeResults(peace, point, recovery, flaws);
  return flaws;
}

std::map<size_t, Flaw> LostProgress(const Peace& peace, const std::vector<Resumption>& all) {
  // The step that was the last when an object like this was written, for the writes that ended a
  // run of writes: what came behind them was the next step.
  struct Sample {
    size_t resumption;
    int64_t step;
    bool advanced;
  };
  std::map<std::string, std::vector<Sample>> by_pattern;
  const std::vector<Happening>& events = peace.run().happenings;
  for (size_t i = 0; i < all.size(); ++i) {
    const CrashPoint& point = all[i].point;
    if (point.kind != Kind::kStorage || point.before || !all[i].first_step) continue;
    if (point.op == "delete" || point.op == "read" || point.op == "list") continue;
    bool ends = true;  // no further write before the replica's next step
    for (size_t at = point.events; at < events.size() && ends; ++at) {
      if (events[at].kind == Kind::kStep && events[at].replica == point.replica) break;
      if (IsWrite(events[at]) && events[at].replica == point.replica) ends = false;
    }
    int64_t step = 0;
    for (size_t at = 0; at < point.events; ++at) {
      if (events[at].kind == Kind::kStep && events[at].replica == point.replica) {
        step = events[at].step;
      }
    }
    if (!ends || step == 0) continue;
    by_pattern[WithoutNumbers(point.text)].push_back({i, step, *all[i].first_step == step + 1});
  }
  std::map<size_t, Flaw> lost = NothingTakenUp(peace, all);
  for (const auto& [pattern, samples] : by_pattern) {
    const auto advanced = std::count_if(samples.begin(), samples.end(),
                                        [](const Sample& sample) { return sample.advanced; });
    if (samples.size() < 3 || 2 * advanced < static_cast<int64_t>(samples.size())) continue;
    for (const Sample& sample : samples) {
      const int64_t first = *all[sample.resumption].first_step;
      if (sample.advanced || first > sample.step) continue;
      lost[sample.resumption] = {"a whole checkpoint is passed over: " + pattern,
                                 "goes on with step " + std::to_string(sample.step + 1),
                                 "goes on with step " + std::to_string(first)};
    }
  }
  return lost;
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
