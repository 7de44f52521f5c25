// A fault of a replica's program: fail. The service restarts the program of a custom job once more
// while it tears the job down (docs/service/vertex.md, section 4).

#include <algorithm>
#include <utility>

#include "harness/faults/fault.h"
#include "harness/faults/fault_texts.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_replicas.h"

namespace caip::harness {
namespace {

constexpr int kStatusDefault = 1;
constexpr int kStatusMax = 125;  // higher ones are those of signals and shells
// Codes of packages that died of SIGABRT and SIGSEGV, after which the job is tried again
// (src/run/replica_outcome.cc).
constexpr int kTransientStatuses[] = {6, 11};

/// Ends the program with an error of its own.
class FailProgram final : public FaultAction {
 public:
  FailProgram(int status, std::optional<Duration> runs_again)
      : status_(status), runs_again_(runs_again) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    if (context.run().FailProgram(fault.replica, status_).ok()) {
      context.WaitForEndOfBoot(fault.replica);
    }
    return {};
  }
  int status() const { return status_; }
  std::optional<Duration> runs_again() const { return runs_again_; }

 private:
  int status_;
  std::optional<Duration> runs_again_;  // nullopt: the default
};

FaultActionPtr ReadFail(const Cursor& parameters) {
  int status = kStatusDefault;
  if (parameters.Has("status")) {
    status = static_cast<int>(parameters.At("status").Integer(1, kStatusMax));
  }
  std::optional<Duration> runs_again;
  if (parameters.Has("runs_again")) runs_again = parameters.At("runs_again").Time();
  return std::make_shared<FailProgram>(status, runs_again);
}

const FailProgram* FindFailure(const Fault& fault) {
  return dynamic_cast<const FailProgram*>(fault.action.get());
}

bool IsTransientStatus(int status) {
  return std::ranges::find(kTransientStatuses, status) != std::end(kTransientStatuses);
}

void CheckFail(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  const Cursor parameters = element.At(fault.kind->name);
  const FailProgram* action = FindFailure(fault);
  if (action && IsTransientStatus(action->status()) && RunsPackages(scenario)) {
    parameters.At("status").Wrong(texts::TransientStatus(action->status()));
  }
  if (scenario.kind->RestartsFailing() || !parameters.Has("runs_again")) return;
  parameters.At("runs_again").WrongKey(texts::RunsAgainOfTraining());
}

}  // namespace

std::vector<FaultKind> ProgramFaultKinds() {
  return {{.name = "fail",
           .summary =
               "The replica's program ends with an error of its own (`status: 1`), and its "
               "job fails. In a custom job it starts once more before, for `runs_again: 2m`.",
           .parameters = {"replica", "status", "runs_again"},
           .required = {"replica"},
           .read = ReadFail,
           .check = CheckFail}};
}

Fault FailFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("fail", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<FailProgram>(kStatusDefault, std::nullopt));
}

bool MakesProgramFail(const Fault& fault) { return FindFailure(fault) != nullptr; }

Duration RunsAgain(const Fault& fault, const Limits& limits) {
  const FailProgram* action = FindFailure(fault);
  if (!action) return Duration(0);
  const Duration within = std::min<Duration>(limits.no_progress * 4 / 5, limits.wall / 2);
  return action->runs_again().value_or(std::min<Duration>(kFailingRestart, within));
}

}  // namespace caip::harness
