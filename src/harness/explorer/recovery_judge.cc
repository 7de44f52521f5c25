#include "harness/explorer/recovery_judge.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "harness/expectations/counts.h"
#include "harness/explorer/difference.h"

namespace caip::harness {
namespace {

using Kind = Happening::Kind;

constexpr char kNeverDone[] = "steps are never done";

// Why nothing may be wrong.
constexpr char kOtherBytes[] =
    "all steps are the same, and it is no JSON: what was loaded and written again (a pickle) may "
    "have other bytes and mean the same; then name it in expect.same_objects_as_twin.except";
constexpr char kSameAgain[] = "the same bytes are there in the end";
constexpr char kUntold[] =
    "the machine went between a write and the line of that step: it may have been done, and not "
    "told; tell of a step before it is saved";

std::set<int64_t> NumbersOf(const StepRecords& records) {
  std::set<int64_t> numbers;
  for (const auto& [step, record] : records) numbers.insert(step);
  return numbers;
}

void JudgeOutcome(const Evidence& run, std::vector<Flaw>& flaws) {
  if (!run.broke_off.empty()) {
    flaws.push_back({"the job does not end", "SUCCEEDED", run.broke_off});
  } else if (run.state != "SUCCEEDED") {
    const std::string why = TellingLine(run.error_message);
    flaws.push_back({"the job ends " + run.state + ": " + WithoutNumbers(why), "SUCCEEDED",
                     run.state + ": " + why});
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
    flaws.push_back(
        {kNeverDone, whose + "steps " + Runs(NumbersOf(wanted)), "without " + Runs(missing)});
  }
  if (!surplus.empty()) {
    flaws.push_back({"steps are done that nobody asked for",
                     whose + "steps " + Runs(NumbersOf(wanted)), "and " + Runs(surplus)});
  }
  for (const auto& [step, record] : wanted) {
    const auto other = found.find(step);
    if (other == found.end()) continue;
    for (const std::string& field :
         DifferingFields(record.record, other->second.record, peace.how().steps)) {
      if (peace.unstable_fields().contains(field)) continue;
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
                       const std::string& expected, const std::string& found,
                       const std::string& doubt = "") {
    const std::string pattern = WithoutNumbers(name);
    if (renamed.contains(pattern) || !peace.Compares(name)) return;
    const std::string cause = what + ": " + pattern;
    by_cause.try_emplace(cause, Flaw{cause, name + ": " + expected, found, doubt});
  };
  const bool same_steps = flaws.empty() && !peace.replicas().empty() && peace.steps_are_stable();
  for (const auto& [name, object] : peace.run().objects) {
    const auto mine = run.objects.find(name);
    if (mine == run.objects.end()) {
      add("objects are missing in the end", name, "there", "not there");
    } else if (!peace.how().objects.Equal(mine->second.bytes, object.bytes) &&
               !CountsStarts(object.bytes, mine->second.bytes)) {
      add("objects hold something else", name, WhereItDiffers(object.bytes, mine->second.bytes),
          WhereItDiffers(mine->second.bytes, object.bytes),
          same_steps && !ParseJson(object.bytes).ok() ? kOtherBytes : "");
    }
  }
  for (const auto& [name, object] : run.objects) {
    if (!peace.run().objects.contains(name)) add("objects are left over", name, "gone", "there");
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
    const auto found = run.objects.find(h.object);
    const bool same =
        found != run.objects.end() &&
        peace.how().objects.Equal(found->second.bytes, peace.run().objects.at(h.object).bytes);
    flaws.push_back({"a result that was whole is written again: " + WithoutNumbers(folder),
                     h.object + " written once",
                     "written again at event " + std::to_string(h.number), same ? kSameAgain : ""});
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

// A step that is missing, and was under way when the machine went: something was written behind the
// line of the step before, and its own line was still to come.
std::optional<int64_t> UntoldStep(const Peace& peace, const CrashPoint& point,
                                  const Evidence& recovery) {
  const std::set<int64_t> wanted = NumbersOf(EffectiveSteps(peace.run(), point.replica));
  const std::set<int64_t> missing =
      Without(wanted, NumbersOf(EffectiveSteps(recovery, point.replica)));
  if (missing.size() != 1) return std::nullopt;
  bool written = false;
  std::optional<int64_t> told;
  for (size_t i = 0; i < std::min(point.events, recovery.happenings.size()); ++i) {
    const Happening& h = recovery.happenings[i];
    if (h.replica != point.replica) continue;
    if (h.kind == Kind::kStep) told = h.step;
    written = IsWrite(h) || (written && h.kind != Kind::kStep);
  }
  const auto next = told ? wanted.upper_bound(*told) : wanted.begin();
  if (!written || next == wanted.end() || *next != *missing.begin()) return std::nullopt;
  return *next;
}

// Whole numbers count; what was learned shows in others, or in bytes of its own.
bool HoldsMoreThanCounts(const Json& json) {
  if (json.is_number_float()) return true;
  return json.is_structured() && std::any_of(json.begin(), json.end(), HoldsMoreThanCounts);
}

// Something that was written behind the step, and is compared, would be other without it.
bool WouldShow(const Peace& peace, const std::string& replica, int64_t step) {
  bool behind = false;
  for (const Happening& h : peace.run().happenings) {
    behind = behind || (h.kind == Kind::kStep && h.replica == replica && h.step == step);
    const auto object = peace.run().objects.find(h.object);
    if (!behind || !IsWrite(h) || object == peace.run().objects.end()) continue;
    const auto json = ParseJson(object->second.bytes);
    const bool tells = json.ok() ? HoldsMoreThanCounts(*json) : !object->second.bytes.empty();
    if (tells && peace.Compares(h.object)) return true;
  }
  return false;
}

// A trainer that saves a step before it tells of it does a step that nobody hears of, when its
// machine goes between the two. It was done if all that came of it is the same.
void DoubtUntold(const Peace& peace, const CrashPoint& point, const Evidence& recovery,
                 std::vector<Flaw>& flaws) {
  if (flaws.size() != 1 || !flaws.front().cause.starts_with(kNeverDone)) return;
  const auto step = UntoldStep(peace, point, recovery);
  if (!step) return;
  if (WouldShow(peace, point.replica, *step)) return flaws.clear();
  flaws.front().doubt = kUntold;
}

}  // namespace

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
  DoubtUntold(peace, point, recovery, flaws);
  std::stable_partition(flaws.begin(), flaws.end(),
                        [](const Flaw& flaw) { return flaw.doubt.empty(); });
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

}  // namespace caip::harness
