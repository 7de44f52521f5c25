// Faults of a replica's log lines and of its clock: clock_step, drop_log, duplicate_log.

#include "harness/faults/fault_kinds.h"

namespace caip::harness {
namespace {

class ClockStep final : public FaultAction {
 public:
  explicit ClockStep(Duration by) : by_(by) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    (void)context.run().StepClock(fault.replica, by_);
    return {};
  }

 private:
  Duration by_;
};

/// Loses a line, or lets it arrive twice.
class LineFault final : public FaultAction {
 public:
  explicit LineFault(FaultResponse::Kind kind) : kind_(kind) {}
  FaultResponse Inject(const Fault&, FaultContext&) const override { return {kind_, 0, 0, ""}; }

 private:
  FaultResponse::Kind kind_;
};

FaultActionPtr ReadClockStep(const Cursor& parameters) {
  if (!parameters.Has("by")) return std::make_shared<ClockStep>(Duration(0));  // reported already
  const Duration by = parameters.At("by").Time(true);
  if (by == Duration(0)) parameters.At("by").Wrong("must not be 0; write 1h or -30s");
  return std::make_shared<ClockStep>(by);
}

FaultActionPtr ReadDropLog(const Cursor&) {
  return std::make_shared<LineFault>(FaultResponse::Kind::kDrop);
}

FaultActionPtr ReadDuplicateLog(const Cursor&) {
  return std::make_shared<LineFault>(FaultResponse::Kind::kTwice);
}

}  // namespace

std::vector<FaultKind> LogAndClockFaultKinds() {
  return {
      {.name = "clock_step",
       .summary = "The clock that the replica sees steps forward or back (`by: 1h`, `by: -30s`).",
       .parameters = {"replica", "by"},
       .required = {"replica", "by"},
       .needs = HostAbility::kFakeClock,
       .read = ReadClockStep},
      {.name = "drop_log",
       .summary = "A line of the replica never arrives in the log.",
       .parameters = {"replica"},
       .required = {"replica"},
       .occasion = FaultOccasion::kLogLine,
       .read = ReadDropLog},
      {.name = "duplicate_log",
       .summary = "A line of the replica arrives twice in the log.",
       .parameters = {"replica"},
       .required = {"replica"},
       .occasion = FaultOccasion::kLogLine,
       .read = ReadDuplicateLog},
  };
}

}  // namespace caip::harness
