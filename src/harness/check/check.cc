#include "harness/check/check.h"

#include <algorithm>
#include <set>
#include <utility>

namespace caip::harness {
namespace {

std::vector<CheckKind> CollectChecks() {
  std::vector<CheckKind> all;
  for (auto chapter : {StartChecks(), PackageChecks(), RoleChecks(), ExitChecks(), RestartChecks(),
                       MachineChecks(), LogChecks(), TuningChecks()}) {
    for (CheckKind& check : chapter) all.push_back(std::move(check));
  }
  return all;
}

void AddRunAndItsDependencies(const std::string& name, std::set<std::string>& names) {
  if (!names.insert(name).second) return;
  for (const std::string& before : FindCheckRun(name)->after) {
    AddRunAndItsDependencies(before, names);
  }
}

}  // namespace

const std::vector<CheckKind>& CheckKinds() {
  static const std::vector<CheckKind> kinds = CollectChecks();
  return kinds;
}

const CheckKind* FindCheck(std::string_view id) {
  for (const CheckKind& check : CheckKinds()) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

std::string_view Name(CheckVerdict verdict) {
  constexpr std::string_view kNames[] = {"PASS", "WARN", "FAIL", "SKIPPED", "NOT RUN"};
  return kNames[static_cast<size_t>(verdict)];
}

CheckResult Pass(std::string found) { return {CheckVerdict::kPass, std::move(found)}; }
CheckResult Skip(std::string why) { return {CheckVerdict::kSkipped, std::move(why)}; }

CheckResult EvaluateCheck(const CheckKind& check, const CheckSession& session) {
  for (const std::string& name : check.runs) {
    const auto run = session.runs.find(name);
    if (run == session.runs.end()) return {CheckVerdict::kNotRun, "its runs were not made"};
    if (!run->second.skipped.empty()) return Skip(run->second.skipped);
  }
  const bool are_made = std::ranges::all_of(
      check.other_runs, [&](const std::string& name) { return session.runs.contains(name); });
  if (!are_made) return {CheckVerdict::kNotRun, "its runs were not made"};
  return check.evaluate(session);
}

std::vector<const CheckRunKind*> RunsFor(const std::vector<const CheckKind*>& checks) {
  std::set<std::string> names;
  for (const CheckKind* check : checks) {
    for (const std::string& name : check->runs) AddRunAndItsDependencies(name, names);
    for (const std::string& name : check->other_runs) AddRunAndItsDependencies(name, names);
  }
  std::vector<const CheckRunKind*> runs;
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (names.contains(kind.name)) runs.push_back(&kind);
  }
  return runs;
}

}  // namespace caip::harness
