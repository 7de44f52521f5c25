#include "harness/explorer/recovery_comparison.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/text.h"
#include "harness/expectations/counts.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/drift.h"
#include "harness/explorer/failure_reason.h"
#include "harness/explorer/other_state.h"
#include "harness/explorer/other_values.h"
#include "harness/explorer/start_counts.h"

namespace caip::harness {
namespace {

constexpr size_t kDifferenceShown = 60;  // characters of a text
constexpr size_t kBefore = 20;           // characters before the first difference
constexpr size_t kBytesShown = 12;       // bytes of other data

// Returns the start of the character at this position.
size_t BeginOfCharacter(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, " %02x", byte);
    text += digits;
  }
  return text;
}

}  // namespace

std::string ExcerptAtDifference(std::string_view bytes, std::string_view other) {
  const auto ends = std::mismatch(bytes.begin(), bytes.end(), other.begin(), other.end());
  const auto at = static_cast<size_t>(ends.first - bytes.begin());
  if (IsText(bytes) && IsText(other)) {
    if (bytes.size() <= kDifferenceShown || at < kDifferenceShown - kBefore) {
      return std::string(bytes.substr(0, BeginOfCharacter(bytes, kDifferenceShown)));
    }
    const size_t begin = BeginOfCharacter(bytes, at - kBefore);
    const size_t end = BeginOfCharacter(bytes, begin + kDifferenceShown);
    return "…" + std::string(bytes.substr(begin, end - begin));
  }
  const std::string size = std::to_string(bytes.size()) + " bytes, ";
  if (at == bytes.size()) return size + "no more";
  return size + "at byte " + std::to_string(at) + ":" + Hexadecimal(bytes.substr(at, kBytesShown));
}

namespace {

constexpr char kDriftCause[] = "numbers drift after a restart";

// Doubts: the reasons why a flaw may be harmless.
constexpr char kMayDrift[] =
    "the difference is less than a hundred thousandth of the number: a resumed training may add "
    "the "
    "same numbers in another order; --drift-fails counts it";
constexpr char kOtherBytes[] =
    "all steps are the same, and the object is not JSON: data that was loaded and saved again (a "
    "pickle) may have other bytes and the same meaning; if so, name the object in "
    "expect.same_objects_as_twin.except";
constexpr char kSameAgain[] = "the object has the same bytes at the end";
constexpr char kMayCount[] =
    "a restart before the first step, when nothing could be lost, changes the object too: it may "
    "hold the number of starts";
constexpr char kUnreportedStep[] =
    "the machine went away between a write and the line that reports this step: the step may have "
    "been done without a report; report a step before it is saved";

std::set<int64_t> NumbersOf(const StepRecords& records) {
  std::set<int64_t> numbers;
  for (const auto& [step, record] : records) numbers.insert(step);
  return numbers;
}

void CompareOutcome(const Evidence& run, std::vector<Flaw>& flaws) {
  if (!run.broke_off.empty()) {
    flaws.push_back({"the job does not end", "SUCCEEDED", run.broke_off});
    flaws.back().kind = Flaw::Kind::kNoEnd;
  } else if (run.state != "SUCCEEDED") {
    const std::string why = FindFailureReason(run);
    flaws.push_back({"the job ends " + run.state + ": " + WithoutNumbers(why), "SUCCEEDED",
                     run.state + ": " + why});
    flaws.back().kind = Flaw::Kind::kJobFails;
  }
}

std::set<int64_t> Without(const std::set<int64_t>& all, const std::set<int64_t>& some) {
  std::set<int64_t> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

void CompareSteps(const Baseline& baseline, const std::string& replica, const Evidence& run,
                  std::vector<Flaw>& flaws) {
  const StepRecords wanted = EffectiveSteps(baseline.run(), replica);
  const StepRecords found = EffectiveSteps(run, replica);
  const std::set<int64_t> missing = Without(NumbersOf(wanted), NumbersOf(found));
  const std::set<int64_t> surplus = Without(NumbersOf(found), NumbersOf(wanted));
  const std::string whose = replica + ": ";
  if (!missing.empty()) {
    Flaw flaw{"steps are missing", whose + "steps " + RangesText(NumbersOf(wanted)),
              "without " + RangesText(missing)};
    flaw.kind = Flaw::Kind::kMissingSteps;
    flaws.push_back(std::move(flaw));
  }
  if (!surplus.empty()) {
    flaws.push_back({"unexpected steps are done", whose + "steps " + RangesText(NumbersOf(wanted)),
                     "and " + RangesText(surplus)});
    flaws.back().kind = Flaw::Kind::kSteps;
  }
  for (const auto& [step, record] : wanted) {
    const auto other = found.find(step);
    if (other == found.end()) continue;
    for (const std::string& field : DifferingFields(record, other->second, baseline.how().steps)) {
      if (baseline.unstable_fields().contains(field)) continue;
      const Json* a = Member(record, field);
      const Json* b = Member(other->second, field);
      const bool is_drift = a && b && IsDrift(*a, *b);
      flaws.push_back({is_drift ? kDriftCause : "steps differ in '" + field + "'",
                       whose + "step " + std::to_string(step) + " " + field + " " +
                           (a ? CompactJson(*a) : "none"),
                       b ? CompactJson(*b) : "none", is_drift ? kMayDrift : ""});
      flaws.back().kind = is_drift ? Flaw::Kind::kDrift : Flaw::Kind::kSteps;
      return;  // later differences follow from the first one
    }
  }
}

// Why bytes that differ although all steps are the same may be harmless; "": they are not.
std::string DoubtOfBytes(const std::string& bytes, const std::string& other, bool has_drift) {
  if (ParseJson(bytes).ok()) return "";
  if (has_drift) return kOtherBytes;
  const bool are_texts = IsText(bytes) && IsText(other);
  const bool is_sure =
      are_texts ? TextsHoldOtherValues(bytes, other) : HoldOtherValues(bytes, other);
  return is_sure ? "" : kOtherBytes;
}

std::string DoubtOfCount(const Baseline& baseline, const std::string& name) {
  return baseline.MayCount(name) ? kMayCount : "";
}

// Why contents that differ may be harmless; "": they are not. `same_steps`: all steps are the same.
std::string DoubtOfContents(const Baseline& baseline, const std::string& name,
                            const std::string& bytes, const std::string& other, size_t restarts,
                            bool same_steps, bool has_drift) {
  const std::string doubt = same_steps ? DoubtOfBytes(bytes, other, has_drift) : "";
  if (!doubt.empty() || !baseline.MayCount(name)) return doubt;
  const bool is_sure = FindValueDifference(bytes, other, baseline.starts(), restarts).has_others;
  return is_sure ? "" : kMayCount;
}

std::string WrittenAfter(int64_t step) { return "written after step " + std::to_string(step); }

void CompareObjectsWithBaseline(const Baseline& baseline, const Evidence& run, size_t restarts,
                                std::vector<Flaw>& flaws) {
  std::map<std::string, Flaw> by_cause;
  const std::set<std::string> renamed = RenamedPatterns(baseline.run(), run);
  const auto add = [&](const std::string& what, const std::string& name,
                       const std::string& expected, const std::string& found, Flaw::Kind kind,
                       const std::string& why, const std::string& contents = "") {
    const std::string pattern = WithoutNumbers(name);
    if (renamed.contains(pattern) || !baseline.Compares(name)) return;
    const std::string cause =
        kind == Flaw::Kind::kDrift ? kDriftCause : what + ": " + baseline.PatternOf(name);
    Flaw flaw{cause, name + ": " + expected, found, why};
    flaw.kind = kind;
    if (kind == Flaw::Kind::kLeftOver) flaw.object = name;
    if (!why.empty() && !contents.empty()) {
      flaw.object = name;
      flaw.contents = contents;
    }
    const auto [known, is_new] = by_cause.try_emplace(cause, flaw);
    if (!is_new && !known->second.doubt.empty() && why.empty()) known->second = std::move(flaw);
  };
  const auto is_drift = [](const Flaw& flaw) { return flaw.kind == Flaw::Kind::kDrift; };
  const bool has_drift = std::ranges::any_of(flaws, is_drift);
  const bool same_steps = std::ranges::all_of(flaws, is_drift) && !baseline.replicas().empty() &&
                          baseline.steps_are_stable();
  const ObjectAges ages_wanted(baseline.run().events);
  const ObjectAges ages(run.events);
  for (const auto& [name, object] : baseline.run().objects) {
    const auto mine = run.objects.find(name);
    if (mine == run.objects.end()) {
      add("objects are missing at the end", name, "present", "missing", Flaw::Kind::kContents,
          DoubtOfCount(baseline, name));
    } else if (!baseline.how().objects.Equal(mine->second.bytes, object.bytes) &&
               !CountsStarts(object.bytes, mine->second.bytes, static_cast<int64_t>(restarts))) {
      const auto json = ParseJson(object.bytes);
      const auto other = ParseJson(mine->second.bytes);
      const bool drifts = json.ok() && other.ok() && IsDrift(*json, *other);
      const auto age = ages.AgeOf(name);
      const auto wanted = ages_wanted.AgeOf(name);
      if (age && wanted && *age != *wanted && !drifts) {
        add(kOtherState, name, WrittenAfter(*wanted), WrittenAfter(*age), Flaw::Kind::kOtherState,
            DoubtOfCount(baseline, name));
        continue;
      }
      add("objects have different contents", name,
          ExcerptAtDifference(object.bytes, mine->second.bytes),
          ExcerptAtDifference(mine->second.bytes, object.bytes),
          drifts ? Flaw::Kind::kDrift : Flaw::Kind::kContents,
          drifts ? kMayDrift
                 : DoubtOfContents(baseline, name, object.bytes, mine->second.bytes, restarts,
                                   same_steps, has_drift),
          IsText(object.bytes) ? "" : MarkOf(mine->second.bytes));
    }
  }
  for (const auto& [name, object] : run.objects) {
    if (!baseline.run().objects.contains(name))
      add("objects are left over", name, "absent", "present", Flaw::Kind::kLeftOver,
          DoubtOfCount(baseline, name));
  }
  for (auto& [cause, flaw] : by_cause) flaws.push_back(std::move(flaw));
}

std::string FolderOfResult(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

// Finds results that were complete when the machine went away and are written again. A result is
// complete if all results of its folder exist.
void CompareResults(const Baseline& baseline, const CrashPoint& point, const Evidence& run,
                    std::vector<Flaw>& flaws) {
  std::set<std::string> present;
  size_t at = 0;
  for (; at < std::min(point.events, run.events.size()); ++at) {
    if (const StorageEvent* write = FindWrite(run.events[at])) present.insert(write->object);
  }
  std::set<std::string> reported;  // folders with a flaw
  for (; at < run.events.size(); ++at) {
    const StorageEvent* write = FindWrite(run.events[at]);
    if (!write || !present.contains(write->object)) continue;
    const std::string& object = write->object;
    if (!baseline.results().contains(object)) continue;
    const std::string folder = FolderOfResult(object);
    const bool complete = std::ranges::all_of(baseline.results(), [&](const std::string& name) {
      return FolderOfResult(name) != folder || present.contains(name);
    });
    if (!complete || !reported.insert(folder).second) continue;
    const auto found = run.objects.find(object);
    const bool same =
        found != run.objects.end() &&
        baseline.how().objects.Equal(found->second.bytes, baseline.run().objects.at(object).bytes);
    Flaw flaw{
        "a complete result is written again: " + WithoutNumbers(object), object + " written once",
        "written again at event " + std::to_string(run.events[at].number), same ? kSameAgain : ""};
    flaw.kind = Flaw::Kind::kRewrittenResult;
    flaw.object = object;
    flaws.push_back(std::move(flaw));
  }
}

/// Finds the steps that a replica did without a report.
class UnreportedSteps {
 public:
  UnreportedSteps(const Baseline& baseline, const std::string& replica, const Evidence& recovery)
      : replica_(replica),
        recovery_(recovery),
        wanted_(NumbersOf(EffectiveSteps(baseline.run(), replica))),
        missing_(Without(wanted_, NumbersOf(EffectiveSteps(recovery, replica)))) {}

  const std::set<int64_t>& missing() const { return missing_; }
  // Whether all missing steps were done without a report. Each restart can lose one.
  bool AreAll() const { return !missing_.empty() && found_ == missing_; }

  // Notes the step on which the replica was working when the machine went away at the point: it had
  // written something after the line of the previous step, or after the restart before (`begin`),
  // and had not printed the step's own line.
  void Note(size_t begin, const CrashPoint& point) {
    bool written = false;
    std::optional<int64_t> reported;
    for (size_t i = 0; i < std::min(point.events, recovery_.events.size()); ++i) {
      const Event& event = recovery_.events[i];
      if (event.replica != replica_) continue;
      const auto* step = event.As<StepEvent>();
      if (step) reported = step->step;
      written = (i >= begin && IsWrite(event)) || (written && !step);
    }
    auto next = reported ? wanted_.upper_bound(*reported) : wanted_.begin();
    while (next != wanted_.end() && found_.contains(*next)) ++next;
    if (written && next != wanted_.end() && missing_.contains(*next)) found_.insert(*next);
  }

 private:
  const std::string& replica_;
  const Evidence& recovery_;
  const std::set<int64_t> wanted_;
  const std::set<int64_t> missing_;
  std::set<int64_t> found_;
};

// Whole numbers may be counters. Other numbers, and bytes that are not JSON, depend on the
// training.
bool HoldsMoreThanCounters(const Json& json) {
  if (json.is_number_float()) return true;
  return json.is_structured() && std::any_of(json.begin(), json.end(), HoldsMoreThanCounters);
}

// Whether a compared object that was written after the step would differ without the step.
bool WouldDifferWithout(const Baseline& baseline, const std::string& replica, int64_t step) {
  bool after = false;
  for (const Event& event : baseline.run().events) {
    const auto* found = event.As<StepEvent>();
    after = after || (found && event.replica == replica && found->step == step);
    const StorageEvent* write = FindWrite(event);
    if (!after || !write) continue;
    const auto object = baseline.run().objects.find(write->object);
    if (object == baseline.run().objects.end()) continue;
    const std::string& bytes = object->second.bytes;
    const auto json = ParseJson(bytes);
    const bool tells = json.ok() ? HoldsMoreThanCounters(*json) : !bytes.empty();
    if (tells && baseline.Compares(write->object)) return true;
  }
  return false;
}

// If a trainer saves a step before it reports it, and its machine goes away between the two, the
// step is never reported. The step was done if all later objects are the same. The loss of one
// machine may end all replicas. `first`: of two restarts, or null.
void DoubtUnreportedSteps(const Baseline& baseline, const CrashPoint* first,
                          const CrashPoint& point, const Evidence& recovery,
                          std::vector<Flaw>& flaws) {
  if (flaws.size() != 1 || flaws.front().kind != Flaw::Kind::kMissingSteps) return;
  for (const std::string& replica : baseline.replicas()) {
    UnreportedSteps steps(baseline, replica, recovery);
    if (first) steps.Note(0, *first);
    steps.Note(first ? first->events : 0, point);
    if (!steps.AreAll()) continue;
    const bool were_done = std::ranges::all_of(
        steps.missing(), [&](int64_t step) { return WouldDifferWithout(baseline, replica, step); });
    if (were_done) return flaws.clear();
    flaws.front().doubt = kUnreportedStep;
    return;
  }
}

bool IsSure(const Flaw& flaw) { return flaw.doubt.empty(); }

// If the replica resumed from a mixture, the other flaws most likely follow from it.
void NameMixture(const Baseline& baseline, const CrashPoint& point, const Evidence& recovery,
                 std::vector<Flaw>& flaws) {
  if (flaws.empty() || !IsSure(flaws.front())) return;
  if (auto mixture = FindMixture(baseline, point, recovery)) {
    flaws.insert(flaws.begin(), *std::move(mixture));
  }
}

}  // namespace

std::vector<Flaw> CompareRecovery(const Baseline& baseline, const CrashPoint& point,
                                  const Evidence& recovery, const CrashPoint* first) {
  std::vector<Flaw> flaws;
  CompareOutcome(recovery, flaws);
  if (!flaws.empty()) return flaws;  // other differences follow from these
  if (baseline.steps_are_stable()) {
    for (const std::string& replica : baseline.replicas()) {
      CompareSteps(baseline, replica, recovery, flaws);
    }
  }
  CompareObjectsWithBaseline(baseline, recovery, first ? 2 : 1, flaws);
  CompareResults(baseline, point, recovery, flaws);
  DoubtUnreportedSteps(baseline, first, point, recovery, flaws);
  std::stable_partition(flaws.begin(), flaws.end(), IsSure);
  NameMixture(baseline, point, recovery, flaws);
  return flaws;
}

}  // namespace caip::harness
