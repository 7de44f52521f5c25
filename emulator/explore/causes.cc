#include "emulator/explore/causes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "emulator/explore/resumption.h"
#include "harness/explorer/other_values.h"
#include "harness/explorer/progress_comparison.h"
#include "harness/explorer/spoiled_output.h"

namespace caip::explore {
namespace {

using harness::Flaw;
using Outcomes = std::vector<std::optional<ExploreOutcome>>;

const std::string kSpoiledOutput = "the start after an error spoils the output: ";
constexpr char kRedone[] = "the resumed training writes it again, if it is given the time";
constexpr char kMayResume[] =
    "the second start has read something that the training writes once: a configuration, or the "
    "state from which it resumes; steps that the trainer reports would tell";
constexpr char kSavedMeanwhile[] = "the trainer may have saved it between the fault and its end";

void AddInFront(std::vector<Flaw>& flaws, Flaw flaw) {
  flaws.insert(flaws.begin(), std::move(flaw));
}

/// Recoveries from one kind of interruption, and their tasks.
struct Recoveries {
  std::vector<harness::Resumption> all;
  std::vector<size_t> indices;  // of the tasks of the first elements of `all`
};

Recoveries CollectRecoveries(const TaskList& tasks, const Outcomes& outcomes,
                             const Interruption& what) {
  Recoveries found;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!outcomes[i] || tasks[i].second || tasks[i].what != what) continue;
    found.all.push_back({tasks[i].point, outcomes[i]->first_step});
    found.indices.push_back(i);
  }
  return found;
}

// Adds crash points that have the recovery of another one, which was tried.
void AddEqualPoints(const TaskList& tasks, const Outcomes& outcomes, Recoveries& found) {
  std::map<std::string, std::optional<int64_t>> first_steps;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i] && tasks[i].recorded) first_steps[tasks[i].state] = outcomes[i]->first_step;
  }
  for (const EqualPoint& equal : tasks.equals()) {
    const auto first = first_steps.find(equal.state);
    if (first != first_steps.end()) found.all.push_back({equal.point, first->second});
  }
}

}  // namespace

namespace {

// Data that a restart loaded and saved again (a pickle) has other bytes than in the baseline, but
// the same ones after most restarts. Contents that depend on the crash point are a difference.
constexpr size_t kContentsOfResavedData = 2;

/// Marks of an object's contents after restarts.
struct ContentsFound {
  std::set<std::string> all;
  std::set<std::string> after_one_restart;  // without drift

  bool DependOnCrashPoint() const {
    if (all.size() > kContentsOfResavedData) return true;
    return after_one_restart.size() == 2 &&
           harness::MarksHoldOtherValues(*after_one_restart.begin(), *after_one_restart.rbegin());
  }
};

bool IsDrift(const Flaw& flaw) { return flaw.kind == Flaw::Kind::kDrift; }

void CompareContents(const TaskList& tasks, Outcomes& outcomes) {
  std::map<std::string, ContentsFound> contents;  // by cause and object
  std::vector<Flaw*> found;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) continue;
    const bool drifts = std::ranges::any_of(outcomes[i]->flaws, IsDrift);
    for (Flaw& flaw : outcomes[i]->flaws) {
      if (flaw.contents.empty() || flaw.doubt.empty()) continue;
      ContentsFound& known = contents[flaw.cause + "\n" + flaw.object];
      known.all.insert(flaw.contents);
      if (!tasks[i].second && !drifts) known.after_one_restart.insert(flaw.contents);
      found.push_back(&flaw);
    }
  }
  for (Flaw* flaw : found) {
    if (contents[flaw->cause + "\n" + flaw->object].DependOnCrashPoint()) flaw->doubt.clear();
  }
}

// Whether the point is at the only change of its object, so that it stands for the same progress in
// each run.
bool IsAtOnlyChange(const harness::CrashPoint& point, const harness::Evidence& run) {
  if (point.kind != harness::CrashPoint::Kind::kStorage || point.op != "create") return false;
  const auto changes = std::ranges::count_if(run.events, [&](const harness::Event& event) {
    const auto* storage = event.As<harness::StorageEvent>();
    return storage && !storage->failed && storage->object == point.text && storage->op != "read";
  });
  return changes == 1;
}

bool IsSamePlace(const harness::CrashPoint& a, const harness::CrashPoint& b) {
  return a.replica == b.replica && a.kind == b.kind && a.before == b.before && a.op == b.op &&
         a.text == b.text && a.mid == b.mid;
}

// Adds what FindLossOfPair cannot see: the buckets are as after a single restart at the place of
// the second one, but the trainer resumes earlier.
void ComparePairsWithSingles(const harness::Baseline& baseline, const TaskList& tasks,
                             Outcomes& outcomes) {
  for (size_t pair = 0; pair < tasks.size(); ++pair) {
    if (!outcomes[pair] || !tasks[pair].second) continue;
    const harness::CrashPoint& place = *tasks[pair].second;
    if (!IsAtOnlyChange(place, baseline.run())) continue;
    for (size_t i = 0; i < pair; ++i) {
      const bool is_single = outcomes[i] && !tasks[i].second && tasks[i].what == tasks[pair].what &&
                             IsSamePlace(tasks[i].point, place);
      if (!is_single) continue;
      auto lost =
          FindLoss(baseline, place.replica, outcomes[i]->first_step, outcomes[pair]->first_step);
      std::vector<Flaw>& flaws = outcomes[pair]->flaws;
      const bool is_known = lost && !flaws.empty() && flaws.front().cause == lost->cause;
      if (lost && !is_known) AddInFront(flaws, *std::move(lost));
      break;
    }
  }
}

// The job fails in any case. What counts is the output that its next run finds.
std::vector<Flaw> FlawsOfFailure(const harness::Baseline& baseline, const harness::Evidence& run) {
  const auto spoiled = harness::FindSpoiledObject(
      run, baseline.run(), [&](const std::string& object) { return baseline.Compares(object); });
  if (!spoiled) return {};
  Flaw flaw{kSpoiledOutput + harness::WithoutNumbers(spoiled->name), spoiled->expected,
            spoiled->found};
  flaw.kind = Flaw::Kind::kSpoiledOutput;
  flaw.object = spoiled->name;
  if (spoiled->doubt == harness::SpoiledObject::Doubt::kIsRedone) flaw.doubt = kRedone;
  if (spoiled->doubt == harness::SpoiledObject::Doubt::kMayResume) flaw.doubt = kMayResume;
  return {flaw};
}

}  // namespace

std::vector<Flaw> FlawsOf(const harness::Baseline& baseline, const ExploreTask& task,
                          const harness::Evidence& run) {
  if (task.what == Interruption::kProgramFails) return FlawsOfFailure(baseline, run);
  const TaskPoints points = PointsIn(task, run);
  std::vector<Flaw> flaws = harness::CompareRecovery(baseline, points.last(), run,
                                                     points.second ? &points.first : nullptr);
  if (!Restarts(task.what)) {  // a client that gets no answer writes again
    std::erase_if(flaws,
                  [](const Flaw& flaw) { return flaw.kind == Flaw::Kind::kRewrittenResult; });
  }
  if (!MayDoMore(task.what)) return flaws;
  for (Flaw& flaw : flaws) {
    const bool is_usual = flaw.kind == Flaw::Kind::kLeftOver && baseline.HasObjectLike(flaw.object);
    if (is_usual && flaw.doubt.empty()) flaw.doubt = kSavedMeanwhile;
  }
  std::stable_partition(flaws.begin(), flaws.end(),
                        [](const Flaw& flaw) { return flaw.doubt.empty(); });
  return flaws;
}

ExploreOutcome OutcomeOf(const harness::Baseline& baseline, const ExploreTask& task,
                         const harness::Evidence& run, bool drift_is_sure) {
  ExploreOutcome outcome;
  outcome.flaws = FlawsOf(baseline, task, run);
  if (auto lost = FindLossOfPair(baseline, task, run)) {
    AddInFront(outcome.flaws, *std::move(lost));
  }
  for (Flaw& flaw : outcome.flaws) {
    if (drift_is_sure && IsDrift(flaw)) flaw.doubt.clear();
  }
  const TaskPoints points = PointsIn(task, run);
  outcome.first_step = FirstStep(run, points.last());
  outcome.resumed = DescribeResumption(run, points.last());
  return outcome;
}

std::vector<TriedRestart> CompareTogether(const harness::Baseline& baseline, const TaskList& tasks,
                                          Outcomes& outcomes) {
  std::vector<TriedRestart> more;
  CompareContents(tasks, outcomes);
  ComparePairsWithSingles(baseline, tasks, outcomes);
  // After SIGTERM a trainer may write more or not, so such recoveries are not compared.
  for (const auto what : {Interruption::kMachineLost, Interruption::kProcessKilled}) {
    Recoveries found = CollectRecoveries(tasks, outcomes, what);
    for (auto& [index, flaw] : harness::FindLostProgress(baseline, found.all)) {
      AddInFront(outcomes[found.indices[index]]->flaws, std::move(flaw));
    }
    if (what == Interruption::kMachineLost) AddEqualPoints(tasks, outcomes, found);
    for (auto& [index, flaw] : harness::FindFallbacks(baseline, found.all)) {
      if (index < found.indices.size()) {
        AddInFront(outcomes[found.indices[index]]->flaws, std::move(flaw));
        continue;
      }
      ExploreTask task;
      task.point = found.all[index].point;
      more.push_back({std::move(task), {{std::move(flaw)}, found.all[index].first_step}});
    }
  }
  return more;
}

void ShowBy(const TriedRestart& shown, ExploreFinding& finding) {
  finding.flaw = shown.outcome.flaws.front();
  finding.point = shown.task.point;
  finding.second = shown.task.second;
  finding.what = shown.task.what;
  finding.resumed = shown.outcome.resumed;
}

ExploreTask WithoutBuckets(const ExploreTask& task) {
  ExploreTask plain;
  plain.point = task.point;
  plain.second = task.second;
  plain.what = task.what;
  return plain;
}

std::vector<Cause> FindCauses(const TaskList& tasks, const Outcomes& outcomes,
                              const std::vector<TriedRestart>& more) {
  std::vector<TriedRestart> all;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i]) all.push_back({WithoutBuckets(tasks[i]), *outcomes[i]});
  }
  all.insert(all.end(), more.begin(), more.end());
  std::map<std::string, Cause> by_cause;
  for (TriedRestart& shown : all) {
    const std::vector<Flaw>& flaws = shown.outcome.flaws;
    if (flaws.empty()) continue;
    Cause& cause = by_cause[flaws.front().cause];
    for (const Flaw& flaw : flaws) {
      if (flaw.cause != flaws.front().cause) cause.finding.also.insert(flaw.cause);
    }
    cause.shown_by.push_back(std::move(shown));
  }
  std::vector<Cause> causes;
  for (auto& [name, cause] : by_cause) {
    std::ranges::stable_sort(cause.shown_by, {}, [](const TriedRestart& shown) {
      return !shown.outcome.flaws.front().doubt.empty();
    });
    ExploreFinding& finding = cause.finding;
    ShowBy(cause.shown_by.front(), finding);
    finding.points = cause.shown_by.size();
    causes.push_back(std::move(cause));
  }
  OrderByWorth(causes);
  return causes;
}

namespace {

// The index of the finding that reports what was left out for this cause. The number of causes: no
// finding does. Flaws that only a comparison shows come before the one that the queue has seen.
size_t PlaceOfLeftOut(const std::string& name, const std::vector<Cause>& causes) {
  const auto has_name = [&](const Cause& cause) { return cause.finding.flaw.cause == name; };
  const auto shows_too = [&](const Cause& cause) { return cause.finding.also.contains(name); };
  auto found = std::ranges::find_if(causes, has_name);
  if (found == causes.end()) found = std::ranges::find_if(causes, shows_too);
  return static_cast<size_t>(found - causes.begin());
}

}  // namespace

void AddLeftOut(const std::vector<LeftOutKind>& left_out, std::vector<Cause>& causes) {
  for (const LeftOutKind& kind : left_out) {
    const size_t place = PlaceOfLeftOut(kind.cause, causes);
    if (place < causes.size()) causes[place].finding.left_out += kind.tasks.size();
  }
}

void OrderByWorth(std::vector<Cause>& causes) {
  std::ranges::stable_sort(causes, {}, [](const Cause& cause) {
    const ExploreFinding& finding = cause.finding;
    const bool succeeds_later = finding.once_more == "SUCCEEDED";
    return std::tuple(!finding.flaw.doubt.empty(), harness::RankOf(finding.flaw.kind),
                      succeeds_later, finding.point.events);
  });
}

bool ShowsAgain(const harness::Baseline& baseline, const TriedRestart& shown, const Flaw& wanted,
                const harness::Evidence& again) {
  std::vector<Flaw> flaws = FlawsOf(baseline, shown.task, again);
  if (auto lost = FindLossOfPair(baseline, shown.task, again)) flaws.push_back(*std::move(lost));
  const auto is_same = [&](const Flaw& flaw) { return flaw.cause == wanted.cause; };
  if (std::ranges::any_of(flaws, is_same)) return true;
  // Only the comparison of all recoveries shows lost progress. The restart shows it again if it
  // begins at the same step.
  const TaskPoints points = PointsIn(shown.task, again);
  const bool has_same_begin = FirstStep(again, points.last()) == shown.outcome.first_step;
  return has_same_begin && wanted.kind == Flaw::Kind::kLostProgress;
}

}  // namespace caip::explore
