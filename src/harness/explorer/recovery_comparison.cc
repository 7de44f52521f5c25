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
#include "harness/explorer/rotated_objects.h"
#include "harness/explorer/start_counts.h"
#include "harness/explorer/table_rows.h"
#include "harness/explorer/unreported_steps.h"

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
constexpr char kOtherText[] =
    "all steps are the same, and the object is a text: a log holds what each start did, and other "
    "texts may hold how long it took; if so, name the object in "
    "expect.same_objects_as_twin.except";
constexpr char kMayRotate[] =
    "the restart came between a save and the deletion of this older object: a trainer that keeps "
    "the last few objects may leave one more";
constexpr char kSameAgain[] = "the object has the same bytes at the end";
constexpr char kMayCount[] =
    "a restart before the first step, when nothing could be lost, changes the object too: it may "
    "hold the number of starts";

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
  const bool are_texts = IsText(bytes) && IsText(other);
  const bool is_sure =
      are_texts ? TextsHoldOtherValues(bytes, other) : HoldOtherValues(bytes, other);
  if (is_sure && !has_drift) return "";
  return are_texts ? kOtherText : kOtherBytes;
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

RowDamage DamageOfRows(const Baseline& baseline, const std::string& name,
                       const std::string& found) {
  const std::string& wanted = baseline.run().objects.at(name).bytes;
  if (ParseJson(wanted).ok()) return RowDamage::kNone;
  return FindRowDamage({.baseline = wanted,
                        .early = baseline.EarlyContents(name),
                        .found = found,
                        .has_peers = baseline.starts() > 1});
}

std::string WrittenAfter(int64_t step) { return "written after step " + std::to_string(step); }

// `places`: those of the restarts.
void CompareObjectsWithBaseline(const Baseline& baseline, const Evidence& run,
                                const std::vector<CrashPoint>& places, std::vector<Flaw>& flaws) {
  const size_t restarts = places.size();
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
    } else if (!IsSameObject(baseline, name, mine->second.bytes, restarts)) {
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
      const std::string excerpt = ExcerptAtDifference(mine->second.bytes, object.bytes);
      const RowDamage damage = DamageOfRows(baseline, name, mine->second.bytes);
      const bool is_damaged = damage != RowDamage::kNone;
      // A log of a correct trainer depends on the crash point, so texts have no mark.
      add("objects have different contents", name,
          ExcerptAtDifference(object.bytes, mine->second.bytes),
          is_damaged ? std::string(Name(damage)) + ": " + excerpt : excerpt,
          drifts ? Flaw::Kind::kDrift : Flaw::Kind::kContents,
          drifts       ? kMayDrift
          : is_damaged ? ""
                       : DoubtOfContents(baseline, name, object.bytes, mine->second.bytes, restarts,
                                         same_steps, has_drift),
          IsText(object.bytes) ? "" : MarkOf(mine->second.bytes));
    }
  }
  for (const auto& [name, object] : run.objects) {
    if (baseline.run().objects.contains(name)) continue;
    const bool is_older = IsLeftByRotation(baseline, name, run, places);
    add("objects are left over", name, "absent", "present", Flaw::Kind::kLeftOver,
        is_older ? kMayRotate : DoubtOfCount(baseline, name));
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
  std::vector<CrashPoint> places = {point};
  if (first) places.push_back(*first);
  CompareObjectsWithBaseline(baseline, recovery, places, flaws);
  CompareResults(baseline, point, recovery, flaws);
  DoubtUnreportedSteps(baseline, first, point, recovery, flaws);
  std::stable_partition(flaws.begin(), flaws.end(), IsSure);
  NameMixture(baseline, point, recovery, flaws);
  return flaws;
}

}  // namespace caip::harness
