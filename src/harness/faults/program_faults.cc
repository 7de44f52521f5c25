// A fault of a replica's program: fail. The service restarts the program of a custom job once more
// while it tears the job down (docs/service/vertex.md, section 4).

#include <algorithm>
#include <utility>

#include "harness/faults/fault.h"
#include "harness/faults/fault_texts.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {
namespace {

constexpr int kStatusDefault = 1;
constexpr int kStatusMax = 125;  // higher ones are those of signals and shells
// Codes of programs that died of SIGABRT and SIGSEGV, after which the job is tried again.
constexpr int kTransientStatuses[] = {6, 11};

/// Ends the program with an error of its own.
class FailProgram final : public FaultAction {
 public:
  FailProgram(int status, Duration runs_again) : status_(status), runs_again_(runs_again) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    if (context.run().FailProgram(fault.replica, status_).ok()) {
      context.WaitForEndOfBoot(fault.replica);
    }
    return {};
  }
  Duration runs_again() const { return runs_again_; }

 private:
  int status_;
  Duration runs_again_;
};

FaultActionPtr ReadFail(const Cursor& parameters) {
  int status = kStatusDefault;
  if (parameters.Has("status")) {
    const Cursor cursor = parameters.At("status");
    status = static_cast<int>(cursor.Integer(1, kStatusMax));
    if (std::ranges::find(kTransientStatuses, status) != std::end(kTransientStatuses)) {
      cursor.Wrong(texts::TransientStatus(status));
    }
  }
  const bool has_time = parameters.Has("runs_again");
  return std::make_shared<FailProgram>(
      status, has_time ? parameters.At("runs_again").Time() : kFailingRestart);
}

void CheckFail(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  const Cursor parameters = element.At(fault.kind->name);
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
                   std::make_shared<FailProgram>(kStatusDefault, kFailingRestart));
}

std::optional<Duration> RunsAgain(const Fault& fault) {
  const auto* action = dynamic_cast<const FailProgram*>(fault.action.get());
  return action ? std::optional(action->runs_again()) : std::nullopt;
}

}  // namespace caip::harness
