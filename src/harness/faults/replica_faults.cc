// Faults of a replica: kill, crash, power_loss, maintenance, signal, hang, hold, disk_full,
// volume_full, clock_step, drop_log, duplicate_log.

#include <algorithm>
#include <csignal>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/faults/fault.h"
#include "harness/faults/fault_texts.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_replicas.h"

namespace caip::harness {
namespace {

/// Takes the machine of a replica away. After a maintenance fault the replica continues, because it
/// has a grace period after SIGTERM.
class LoseMachine final : public FaultAction {
 public:
  explicit LoseMachine(engine::VmLoss loss) : loss_(loss) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    const Status lost = context.run().LoseVm(fault.replica, loss_);
    if (lost.ok() && loss_ != engine::VmLoss::kMaintenance) {
      context.WaitForEndOfBoot(fault.replica);
    }
    return {};
  }
  bool takes_machine() const override { return loss_ != engine::VmLoss::kCrash; }

 private:
  engine::VmLoss loss_;
};

class LosePower final : public FaultAction {
 public:
  explicit LosePower(PowerLoss lost) : lost_(lost) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    if (context.run().LosePower(fault.replica, lost_).ok()) {
      context.WaitForEndOfBoot(fault.replica);
    }
    return {};
  }
  bool takes_machine() const override { return true; }

 private:
  PowerLoss lost_;
};

class SendSignal final : public FaultAction {
 public:
  explicit SendSignal(int signal) : signal_(signal) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    context.run().Signal(fault.replica, signal_);
    return {};
  }

 private:
  int signal_;
};

struct NamedSignal {
  std::string_view name;
  int number;
};
// Those that cluster managers send before they end a job, and that people type.
constexpr NamedSignal kSignals[] = {{"SIGTERM", SIGTERM},
                                    {"SIGINT", SIGINT},
                                    {"SIGHUP", SIGHUP},
                                    {"SIGUSR1", SIGUSR1},
                                    {"SIGUSR2", SIGUSR2}};

class Hang final : public FaultAction {
 public:
  explicit Hang(std::optional<Duration> lasts) : lasts_(lasts) {}
  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    context.run().Freeze(fault.replica);
    const auto thaw = [&run = context.run(), replica = fault.replica] { run.Thaw(replica); };
    lasts_ ? context.After(*lasts_, thaw) : context.WhenUntilComes(thaw);
    return {};
  }

 private:
  std::optional<Duration> lasts_;
};

class Hold final : public FaultAction {
 public:
  FaultResponse Inject(const Fault&, FaultContext& context) const override {
    context.WaitForUntil();
    return {};
  }
};

/// Does nothing by itself: the injector says when a disk or the volumes are full, and writes fail
/// then.
class Fill final : public FaultAction {
 public:
  explicit Fill(bool replaces) : replaces_(replaces) {}
  FaultResponse Inject(const Fault&, FaultContext&) const override { return {}; }
  bool replaces_failed() const override { return replaces_; }

 private:
  bool replaces_;
};

template <engine::VmLoss kLoss>
FaultActionPtr ReadMachineLoss(const Cursor&) {
  return std::make_shared<LoseMachine>(kLoss);
}

FaultActionPtr ReadPowerLoss(const Cursor& parameters) {
  std::optional<PowerLoss> lost;
  if (parameters.Has("lost")) {
    lost = FindPowerLoss(parameters.At("lost").Text());
    if (!lost) parameters.At("lost").Wrong(texts::UnknownLoss(parameters.At("lost").Text()));
  }
  return std::make_shared<LosePower>(lost.value_or(PowerLoss::kContents));
}

bool KeepsFiles(const Scenario& scenario) {
  return !scenario.volumes.empty() || !scenario.working_directory.empty() ||
         scenario.semantics == Semantics::kPosix;
}

// Only files can lose what was not synced, and only the files of a machine that no other writes.
void CheckPowerLoss(const Fault&, const Cursor& element, const Scenario& scenario) {
  if (!KeepsFiles(scenario)) element.Wrong(texts::PowerLossWithoutFiles());
  if (scenario.ranks > 1 || FindReplicas(scenario).size() > 1) {
    element.Wrong(texts::PowerLossOfSeveral());
  }
}

FaultActionPtr ReadSignal(const Cursor& parameters) {
  int number = SIGTERM;
  if (parameters.Has("signal")) {
    const std::string name = parameters.At("signal").Text();
    const auto* const signal = std::ranges::find(kSignals, name, &NamedSignal::name);
    const bool is_known = signal != std::end(kSignals);
    std::vector<std::string> known;
    for (const NamedSignal& one : kSignals) known.emplace_back(one.name);
    if (!is_known) parameters.At("signal").Wrong(texts::UnknownSignal(name, known));
    if (is_known) number = signal->number;
  }
  return std::make_shared<SendSignal>(number);
}

FaultActionPtr ReadHang(const Cursor& parameters) {
  std::optional<Duration> lasts;
  if (parameters.Has("for")) lasts = parameters.At("for").Time();
  if (lasts && parameters.Has("until")) {
    parameters.At("for").Wrong(texts::FaultWithTwoEnds("hang"));
  }
  if (!lasts && !parameters.Has("until")) {
    parameters.Wrong(texts::HangWithoutEnd());
  }
  return std::make_shared<Hang>(lasts);
}

FaultActionPtr ReadHold(const Cursor&) { return std::make_shared<Hold>(); }

FaultActionPtr ReadDiskFull(const Cursor& parameters) {
  return std::make_shared<Fill>(parameters.Has("replace") && parameters.At("replace").Flag());
}

FaultActionPtr ReadVolumeFull(const Cursor&) { return std::make_shared<Fill>(true); }

void CheckVolumeFull(const Fault&, const Cursor& element, const Scenario& scenario) {
  if (!KeepsFiles(scenario)) element.Wrong(texts::VolumeFullWithoutFiles());
}

// No replica waits at these events. The injector's own thread would wait for `until`, and every
// replica for the injector. `prepare` and `api` are refused for all faults of replicas.
constexpr std::string_view kTriggersWithoutWaiting[] = {"at", "fault", "metric", "start", "state"};

void CheckHold(const Fault&, const Cursor& element, const Scenario&) {
  const Cursor when = element.At("when");
  for (const std::string_view trigger : kTriggersWithoutWaiting) {
    if (when.Has(trigger)) when.Wrong(texts::HoldWhereNoReplicaWaits(trigger));
  }
}

}  // namespace

std::vector<FaultKind> MachineFaultKinds() {
  using engine::VmLoss;
  return {
      {.name = "kill",
       .summary = "The replica's machine goes away without warning; the next one has a new disk.",
       .parameters = {"replica", "down_until"},
       .required = {"replica"},
       .while_until = WhileUntil::kDown,
       .read = ReadMachineLoss<VmLoss::kKill>},
      {.name = "crash",
       .summary = "The replica dies of a signal; its machine and its disk stay, and it restarts.",
       .parameters = {"replica", "down_until"},
       .required = {"replica"},
       .while_until = WhileUntil::kDown,
       .read = ReadMachineLoss<VmLoss::kCrash>},
      {.name = kPowerLossName,
       .summary = "The power fails: as `kill`, and of files in volumes `lost: contents` (or "
                  "older_contents, newest_contents, names) that were not synced are gone.",
       .parameters = {"replica", "lost"},
       .required = {"replica"},
       .read = ReadPowerLoss,
       .check = CheckPowerLoss},
      {.name = "maintenance",
       .summary = "SIGTERM, the grace period (limits.grace), SIGKILL; the next machine has a new "
                  "disk.",
       .parameters = {"replica"},
       .required = {"replica"},
       .read = ReadMachineLoss<VmLoss::kMaintenance>},
      {.name = "signal",
       .summary = "The processes of the replica get `signal: SIGTERM` (the default), SIGINT, "
                  "SIGHUP, SIGUSR1 or SIGUSR2. Nothing else happens to its machine.",
       .parameters = {"replica", "signal"},
       .required = {"replica"},
       .read = ReadSignal},
      {.name = "hang",
       .summary =
           "Every process of the replica is stopped until `until: TRIGGER` or for `for: 2s`.",
       .parameters = {"replica", "until", "for"},
       .required = {"replica"},
       .while_until = WhileUntil::kFrozen,
       .read = ReadHang},
      {.name = "hold",
       .summary = "The thread of the replica that meets `when` waits there until `until` comes.",
       .parameters = {"replica", "until"},
       .required = {"replica", "until"},
       .while_until = WhileUntil::kThreadWaits,
       .read = ReadHold,
       .check = CheckHold},
      {.name = "disk_full",
       .summary = "Writes to the replica's disk fail for lack of space (ENOSPC), until `until` "
                  "comes or the replica gets a new disk. `replace: true`: if it ends with an error "
                  "meanwhile, it starts again on a new machine.",
       .parameters = {"replica", "until", "replace"},
       .required = {"replica"},
       .while_until = WhileUntil::kDiskIsFull,
       .needs = HostAbility::kWatchedDisk,
       .read = ReadDiskFull},
      {.name = "volume_full",
       .summary = "Writes to files in volumes fail for lack of space (ENOSPC), until `until` comes "
                  "or a replica ends. One that ends with an error then is started again.",
       .parameters = {"replica", "until"},
       .required = {"replica"},
       .while_until = WhileUntil::kVolumesAreFull,
       .read = ReadVolumeFull,
       .check = CheckVolumeFull},
  };
}

Fault KillFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("kill", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<LoseMachine>(engine::VmLoss::kKill));
}

Fault CrashFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("crash", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<LoseMachine>(engine::VmLoss::kCrash));
}

Fault PowerLossFault(std::string name, std::string replica, Trigger when, PowerLoss lost) {
  return MakeFault(kPowerLossName, std::move(name), std::move(replica), std::move(when),
                   std::make_shared<LosePower>(lost));
}

Fault MaintenanceFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("maintenance", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<LoseMachine>(engine::VmLoss::kMaintenance));
}

Fault SignalFault(std::string name, std::string replica, Trigger when, int signal) {
  return MakeFault("signal", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<SendSignal>(signal));
}

Fault HangFault(std::string name, std::string replica, Trigger when,
                std::optional<Duration> lasts) {
  return MakeFault("hang", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<Hang>(lasts));
}

Fault HoldFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("hold", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<Hold>());
}

Fault DiskFullFault(std::string name, std::string replica, Trigger when, bool replace) {
  return MakeFault("disk_full", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<Fill>(replace));
}

Fault VolumeFullFault(std::string name, std::string replica, Trigger when) {
  return MakeFault("volume_full", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<Fill>(true));
}

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

/// Drops or duplicates a line.
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
  if (by == Duration(0)) parameters.At("by").Wrong(texts::ClockStepZero());
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
