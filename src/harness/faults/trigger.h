#pragma once
// Triggers: the events or emulated times at which faults are injected.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "harness/events/event.h"

namespace caip::harness {

/// When an operation is reported. Only storage operations have a before and a middle.
enum class Phase { kBefore, kMid, kAfter };

/// The matching events at which a trigger is due: from the first to the last, or every n-th.
struct Occurrence {
  int64_t first = 1;
  int64_t last = 1;
  int64_t every = 0;  // above 0: due each time the count is divisible by it

  bool Holds(int64_t count) const {
    return every > 0 ? count % every == 0 : first <= count && count <= last;
  }
  bool operator==(const Occurrence&) const = default;
};

/// An operation of storage or, if the glob begins with kDiskPrefix, on a file of the replica's
/// disk. Only `mid` triggers have `bytes`: they are due after that many bytes.
struct StorageTrigger {
  Phase phase = Phase::kAfter;
  /// An op of StorageEvent, "write" (create or overwrite), or "change" (all but read and list).
  std::string op = {};
  std::string glob = {};  // a glob of "bucket/path" or "disk:path"
  uint64_t bytes = 0;

  bool IsOfDisk() const { return glob.starts_with(kDiskPrefix); }
  /// Files of volumes are named by their paths.
  bool IsOfVolume() const { return glob.starts_with("/"); }
  /// Whether the glob matches the object of an event. A glob of objects matches no file of a disk.
  bool MatchesObject(std::string_view object) const;
};
struct LogTrigger {
  std::string regex;
};
struct StepTrigger {
  int64_t step = 0;
};
struct MetricTrigger {
  std::string tag;
};
struct StateTrigger {
  std::string state;
};
struct BootTrigger {
  int64_t boot = 1;
};
struct FaultTrigger {
  std::string fault;
};
/// Emulated time since the job was submitted.
struct TimeTrigger {
  Duration at{0};
};
struct InstallationTrigger {
  int64_t attempt = 1;
};
struct ApiCallTrigger {
  std::string method;
};

struct Trigger {
  using Kind =
      std::variant<StorageTrigger, LogTrigger, StepTrigger, MetricTrigger, StateTrigger,
                   BootTrigger, FaultTrigger, TimeTrigger, InstallationTrigger, ApiCallTrigger>;

  Kind kind = StorageTrigger{};
  std::string replica = {};  // "": the fault's own; or "any"
  std::string since = {};    // events are counted after this fault was injected; "": all
  Occurrence nth = {};
  double probability = 1;  // of being due at an event that is counted

  template <typename One>
  bool Is() const {
    return std::holds_alternative<One>(kind);
  }
  /// Null for a trigger of another kind.
  template <typename One>
  const One* As() const {
    return std::get_if<One>(&kind);
  }
};

/// The faults that must be injected before the trigger can be due.
std::vector<std::string> AwaitedFaults(const Trigger& trigger);

/// `*` matches any characters, also slashes. `?` matches one character. Others match themselves.
bool GlobMatches(std::string_view glob, std::string_view text);
/// Removes a leading gs://. The rest is a glob of "bucket/path".
std::string ObjectGlob(std::string glob);

/// A trigger and its count. Only for one thread.
class TriggerCount {
 public:
  TriggerCount(Trigger trigger, std::string own_replica, Random random);
  ~TriggerCount();
  TriggerCount(TriggerCount&&) noexcept;

  /// Counts the event if it matches. True if the trigger is due now.
  bool Meet(const Event& event, Phase phase);
  int64_t seen() const { return seen_; }
  const Trigger& trigger() const { return trigger_; }

 private:
  bool Matches(const Event& event, Phase phase) const;

  struct Regex;
  Trigger trigger_;
  std::string replica_;
  Random random_;
  std::unique_ptr<Regex> regex_;
  bool counts_ = true;  // whether the fault of `since` was injected
  int64_t seen_ = 0;
};

/// Describes a mistake in the pattern; nullopt for a valid regular expression (RE2).
std::optional<std::string> RegexProblem(const std::string& pattern);

/// "before create */ckpt-20/state.json, the 3rd": for reports.
std::string Describe(const Trigger& trigger);

}  // namespace caip::harness
