#include "harness/faults/trigger.h"

#include <re2/re2.h>

#include <utility>

#include "base/time_text.h"
#include "google/gcs_uri.h"

namespace caip::harness {
namespace {

std::string Ordinal(int64_t n) {
  const bool teen = n % 100 >= 11 && n % 100 <= 13;
  const char* ending = teen          ? "th"
                       : n % 10 == 1 ? "st"
                       : n % 10 == 2 ? "nd"
                       : n % 10 == 3 ? "rd"
                                     : "th";
  return std::to_string(n) + ending;
}

std::string Describe(const Occurrence& nth) {
  if (nth.every == 1) return ", every time";
  if (nth.every > 1) return ", every " + Ordinal(nth.every) + " time";
  if (nth.first == 1 && nth.last == 1) return "";
  if (nth.first == nth.last) return ", the " + Ordinal(nth.first);
  return ", the " + Ordinal(nth.first) + " to the " + Ordinal(nth.last);
}

struct TriggerDescriber {
  std::string operator()(const StorageTrigger& trigger) const {
    const std::string operation = trigger.op + " " + trigger.glob;
    if (trigger.phase == Phase::kBefore) return "before " + operation;
    if (trigger.phase == Phase::kAfter) return "after " + operation;
    return "after " + std::to_string(trigger.bytes) + " bytes of " + operation;
  }
  std::string operator()(const LogTrigger& trigger) const {
    return "after a log line like /" + trigger.regex + "/";
  }
  std::string operator()(const StepTrigger& trigger) const {
    return "after step " + std::to_string(trigger.step);
  }
  std::string operator()(const MetricTrigger& trigger) const {
    return "after a report of " + trigger.tag;
  }
  std::string operator()(const StateTrigger& trigger) const {
    return "when the job is " + trigger.state;
  }
  std::string operator()(const BootTrigger& trigger) const {
    return "at boot " + std::to_string(trigger.boot);
  }
  std::string operator()(const FaultTrigger& trigger) const {
    return "after fault '" + trigger.fault + "'";
  }
  std::string operator()(const TimeTrigger& trigger) const {
    return HumanDuration(trigger.at) + " after submission";
  }
  std::string operator()(const InstallationTrigger& trigger) const {
    return "while the packages of attempt " + std::to_string(trigger.attempt) + " are installed";
  }
  std::string operator()(const ApiCallTrigger& trigger) const {
    return "at a call of " + trigger.method;
  }
};

re2::RE2::Options Quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

/// Compares an event with a trigger, except for the replica.
struct EventMatcher {
  const Event& event;
  Phase phase;
  const re2::RE2* regex;  // the pattern of a LogTrigger

  /// The event's body; null for events of another kind. Only storage operations have other phases
  /// than kAfter.
  template <typename Body>
  const Body* After() const {
    return phase == Phase::kAfter ? event.As<Body>() : nullptr;
  }

  bool operator()(const StorageTrigger& trigger) const {
    const StorageEvent* operation = FindOperation(event);
    if (!operation || phase != trigger.phase) return false;
    if (phase == Phase::kMid && operation->bytes != trigger.bytes) return false;
    const bool writes = operation->op == "create" || operation->op == "overwrite";
    const bool changes = operation->op != "read" && operation->op != "list";
    const bool is_meant = operation->op == trigger.op || (trigger.op == "write" && writes) ||
                          (trigger.op == "change" && changes);
    if (!is_meant) return false;
    return trigger.MatchesObject(operation->object) ||
           (!operation->from.empty() && trigger.MatchesObject(operation->from));
  }
  bool operator()(const LogTrigger&) const {
    const std::string* line = phase == Phase::kAfter ? FindPrintedLine(event) : nullptr;
    return line && re2::RE2::PartialMatch(*line, *regex);
  }
  bool operator()(const StepTrigger& trigger) const {
    const auto* step = After<StepEvent>();
    return step && step->step == trigger.step;
  }
  bool operator()(const MetricTrigger& trigger) const {
    const auto* metric = After<MetricEvent>();
    return metric && metric->tag == trigger.tag;
  }
  bool operator()(const StateTrigger& trigger) const {
    const auto* entered = After<StateEvent>();
    return entered && entered->state == trigger.state;
  }
  bool operator()(const BootTrigger& trigger) const {
    return After<LiveEvent>() && event.boot == trigger.boot;
  }
  bool operator()(const FaultTrigger& trigger) const {
    const auto* injected = After<FaultEvent>();
    return injected && injected->fault == trigger.fault;
  }
  bool operator()(const TimeTrigger&) const { return false; }
  bool operator()(const InstallationTrigger& trigger) const {
    const auto* installation = After<PrepareEvent>();
    return installation && installation->attempt == trigger.attempt;
  }
  bool operator()(const ApiCallTrigger& trigger) const {
    const auto* call = After<ApiCallEvent>();
    return call && call->method == trigger.method;
  }
};

}  // namespace

struct TriggerCount::Regex {
  explicit Regex(const std::string& pattern) : re(pattern, Quiet()) {}
  re2::RE2 re;
};

TriggerCount::TriggerCount(Trigger trigger, std::string own_replica, Random random)
    : trigger_(std::move(trigger)), random_(random) {
  replica_ = trigger_.replica.empty() ? std::move(own_replica) : trigger_.replica;
  counts_ = trigger_.since.empty();
  if (const auto* log = trigger_.As<LogTrigger>()) regex_ = std::make_unique<Regex>(log->regex);
}
TriggerCount::~TriggerCount() = default;
TriggerCount::TriggerCount(TriggerCount&&) noexcept = default;

bool TriggerCount::Meet(const Event& event, Phase phase) {
  const auto* injected = counts_ ? nullptr : event.As<FaultEvent>();
  if (injected && injected->fault == trigger_.since) {
    counts_ = true;
    return false;
  }
  if (!counts_ || !Matches(event, phase)) return false;
  ++seen_;
  const bool lucky = trigger_.probability >= 1 || random_.Unit() < trigger_.probability;
  return trigger_.nth.Holds(seen_) && lucky;
}

bool TriggerCount::Matches(const Event& event, Phase phase) const {
  const bool whose =
      event.replica.empty() || replica_.empty() || replica_ == "any" || replica_ == event.replica;
  if (!whose && !trigger_.Is<FaultTrigger>()) return false;
  return std::visit(EventMatcher{event, phase, regex_ ? &regex_->re : nullptr}, trigger_.kind);
}

bool GlobMatches(std::string_view glob, std::string_view text) {
  size_t g = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t retry = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      retry = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool StorageTrigger::MatchesObject(std::string_view object) const {
  return object.starts_with(kDiskPrefix) == IsOfDisk() && GlobMatches(glob, object);
}

std::string ObjectGlob(std::string glob) {
  if (google::HasGcsScheme(glob)) glob.erase(0, google::kGcsScheme.size());
  return glob;
}

std::optional<std::string> RegexProblem(const std::string& pattern) {
  const re2::RE2 re(pattern, Quiet());
  if (re.ok()) return std::nullopt;
  return re.error();
}

std::vector<std::string> AwaitedFaults(const Trigger& trigger) {
  std::vector<std::string> faults;
  if (const auto* after = trigger.As<FaultTrigger>()) faults.push_back(after->fault);
  if (!trigger.since.empty()) faults.push_back(trigger.since);
  return faults;
}

std::string Describe(const Trigger& trigger) {
  std::string text = std::visit(TriggerDescriber{}, trigger.kind);
  if (trigger.Is<TimeTrigger>()) return text;  // it happens once, for all replicas
  if (!trigger.replica.empty()) text += " of " + trigger.replica;
  if (!trigger.since.empty()) text += " since fault '" + trigger.since + "'";
  return text + Describe(trigger.nth);
}

}  // namespace caip::harness
