#include "harness/explorer/recovery_comparison.h"

#include <algorithm>
#include <utility>

#include "harness/expectations/counts.h"
#include "harness/explorer/difference.h"
#include "harness/explorer/start_counters.h"

namespace caip::harness {
namespace {

constexpr char kNeverDone[] = "steps are never done";

// Why nothing may be wrong.
constexpr char kOtherBytes[] =
    "all steps are the same, and it is no JSON: what was loaded and written again (a pickle) may "
    "have other bytes and mean the same; then name it in expect.same_objects_as_twin.except";
constexpr char kSameAgain[] = "the same bytes are there in the end";
constexpr char kMayCount[] =
    "a restart before the first step, when nothing was there to be lost, changes it too: it may "
    "tell "
    "how often the job was started";
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

void JudgeObjects(const Peace& peace, const Evidence& run, std::vector<Flaw>& flaws) {
  std::map<std::string, Flaw> by_cause;
  const std::set<std::string> renamed = RenamedPatterns(peace.run(), run);
  const auto add = [&](const std::string& what, const std::string& name,
                       const std::string& expected, const std::string& found,
                       const std::string& doubt = "") {
    const std::string pattern = WithoutNumbers(name);
    if (renamed.contains(pattern) || !peace.Compares(name)) return;
    const std::string cause = what + ": " + pattern;
    const std::string why = doubt.empty() && peace.MayCount(name) ? kMayCount : doubt;
    by_cause.try_emplace(cause, Flaw{cause, name + ": " + expected, found, why});
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
    flaws.push_back({"a result that was whole is written again: " + WithoutNumbers(h.object),
                     h.object + " written once",
                     "written again at event " + std::to_string(h.number), same ? kSameAgain : ""});
  }
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
    if (h.kind == Happening::Kind::kStep) told = h.step;
    written = IsWrite(h) || (written && h.kind != Happening::Kind::kStep);
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
    behind = behind || (h.kind == Happening::Kind::kStep && h.replica == replica && h.step == step);
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

}  // namespace caip::harness
