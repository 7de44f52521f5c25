// Faults of the service: cancel, storage_error, preparing_failure, api_error.

#include <utility>
#include <variant>

#include "harness/faults/fault.h"
#include "harness/faults/fault_texts.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

constexpr int kUnavailable = 503;

class Cancel final : public FaultAction {
 public:
  FaultResponse Inject(const Fault&, FaultContext& context) const override {
    (void)context.run().CancelJob();
    return {};
  }
};

struct RefuseOperation {
  int status = kUnavailable;
};
struct DelayOperation {
  Duration latency{0};
};
struct BreakRead {
  uint64_t after_bytes = 0;
};
struct StaleListing {};

/// Makes a storage operation fail in one way.
class StorageError final : public FaultAction {
 public:
  using Way = std::variant<RefuseOperation, DelayOperation, BreakRead, StaleListing>;
  explicit StorageError(Way way) : way_(way) {}

  FaultResponse Inject(const Fault&, FaultContext& context) const override {
    using Kind = FaultResponse::Kind;
    if (const auto* delay = std::get_if<DelayOperation>(&way_)) {
      context.Pause(delay->latency);
      return {};
    }
    if (const auto* broken = std::get_if<BreakRead>(&way_)) {
      return {Kind::kBreak, 0, broken->after_bytes};
    }
    if (std::holds_alternative<StaleListing>(way_)) return {Kind::kStale, 0, 0};
    return {Kind::kRefuse, std::get<RefuseOperation>(way_).status, 0};
  }
  bool only_answers() const override { return !std::holds_alternative<DelayOperation>(way_); }
  const Way& way() const { return way_; }

 private:
  Way way_;
};

class PreparingFailure final : public FaultAction {
 public:
  enum class How { kPackageUnreadable, kPipFails };
  explicit PreparingFailure(How how) : how_(how) {}
  FaultResponse Inject(const Fault&, FaultContext&) const override {
    return {FaultResponse::Kind::kRefuse, 0, 0,
            how_ == How::kPackageUnreadable
                ? "The package could not be downloaded: the scenario makes it unreadable."
                : "ERROR: Could not install the packages: the scenario makes pip fail."};
  }

 private:
  How how_;
};

class ApiError final : public FaultAction {
 public:
  explicit ApiError(int status) : status_(status) {}
  FaultResponse Inject(const Fault&, FaultContext&) const override {
    return {FaultResponse::Kind::kRefuse, status_, 0, "refused by the scenario"};
  }

 private:
  int status_;
};

FaultActionPtr ReadCancel(const Cursor&) { return std::make_shared<Cancel>(); }

int ReadErrorStatus(const Cursor& parameters) {
  if (!parameters.Has("status")) return kUnavailable;
  return static_cast<int>(parameters.At("status").Integer(400, 599));
}

FaultActionPtr ReadStorageError(const Cursor& parameters) {
  int ways = 0;
  for (const char* way : {"status", "latency", "break_after", "stale_listing"}) {
    if (parameters.Has(way) && ++ways == 2) {
      parameters.At(way).Wrong(texts::TwoStorageErrors());
    }
  }
  const bool stale = parameters.Has("stale_listing") && parameters.At("stale_listing").Flag();
  StorageError::Way way = RefuseOperation{ReadErrorStatus(parameters)};
  if (parameters.Has("latency")) {
    way = DelayOperation{parameters.At("latency").Time()};
  } else if (stale) {
    way = StaleListing{};
  } else if (parameters.Has("break_after")) {
    way = BreakRead{static_cast<uint64_t>(parameters.At("break_after").Integer(0))};
  }
  return std::make_shared<StorageError>(way);
}

// In a directory the kernel reads and lists. A call can be refused, but its result cannot be
// changed.
void CheckStorageError(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  const auto& way = static_cast<const StorageError&>(*fault.action).way();
  const auto* when = fault.when.As<StorageTrigger>();
  if (when && std::holds_alternative<BreakRead>(way) && when->op != "read") {
    element.At("when").Wrong(texts::BreakAfterWithoutRead());
  }
  const bool lists = when && when->op == "list" && when->phase == Phase::kBefore;
  if (when && std::holds_alternative<StaleListing>(way) && !lists) {
    element.At("when").Wrong(texts::StaleListingWithoutList());
  }
  const bool may_be_of_volume =
      !scenario.volumes.empty() && when && (when->IsOfVolume() || when->glob.starts_with("*"));
  if (scenario.semantics != Semantics::kPosix && !may_be_of_volume) return;
  const Cursor parameters = element.At(fault.kind->name);
  for (const char* name : {"break_after", "stale_listing"}) {
    if (!parameters.Has(name)) continue;
    parameters.At(name).Wrong(texts::OnlyWithObjectSemantics());
  }
}

FaultActionPtr ReadPreparingFailure(const Cursor& parameters) {
  using How = PreparingFailure::How;
  const std::string how = parameters.Has("how") ? parameters.At("how").Text() : "";
  const bool known = how == "package_unreadable" || how == "pip_fails";
  if (parameters.Has("how") && !known) {
    parameters.At("how").Wrong(texts::NotOneOf({"package_unreadable", "pip_fails"}));
  }
  return std::make_shared<PreparingFailure>(how == "package_unreadable" ? How::kPackageUnreadable
                                                                        : How::kPipFails);
}

FaultActionPtr ReadApiError(const Cursor& parameters) {
  return std::make_shared<ApiError>(ReadErrorStatus(parameters));
}

}  // namespace

std::vector<FaultKind> ServiceFaultKinds() {
  return {
      {.name = "cancel", .summary = "The user cancels the job.", .read = ReadCancel},
      {.name = "storage_error",
       .summary = "A storage operation is refused (status), is late (latency), breaks off "
                  "(break_after bytes), or repeats the result of the last equal listing "
                  "(stale_listing).",
       .parameters = {"replica", "status", "latency", "break_after", "stale_listing"},
       .occasion = FaultOccasion::kStorageOperation,
       .read = ReadStorageError,
       .check = CheckStorageError},
      {.name = "preparing_failure",
       .summary = "The packages of an attempt cannot be downloaded (how: package_unreadable) or "
                  "installed (pip_fails).",
       .parameters = {"how"},
       .required = {"how"},
       .occasion = FaultOccasion::kInstallation,
       .read = ReadPreparingFailure},
      {.name = "api_error",
       .summary = "A call of the job API is refused with a status.",
       .parameters = {"status"},
       .occasion = FaultOccasion::kApiCall,
       .read = ReadApiError},
  };
}

Fault CancelFault(std::string name, Trigger when) {
  return MakeFault("cancel", std::move(name), "", std::move(when), std::make_shared<Cancel>());
}

Fault RefuseStorageFault(std::string name, std::string replica, Trigger when, int status) {
  return MakeFault("storage_error", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<StorageError>(RefuseOperation{status}));
}

Fault DelayStorageFault(std::string name, std::string replica, Trigger when, Duration latency) {
  return MakeFault("storage_error", std::move(name), std::move(replica), std::move(when),
                   std::make_shared<StorageError>(DelayOperation{latency}));
}

}  // namespace caip::harness
