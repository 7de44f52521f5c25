#include "harness/faults/trigger.h"

#include <re2/re2.h>

#include <utility>

#include "base/time_text.h"

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

std::string DescribeStorage(const Trigger& trigger) {
  const std::string what = trigger.op + " " + trigger.pattern;
  if (trigger.phase == Phase::kBefore) return "before " + what;
  if (trigger.phase == Phase::kAfter) return "after " + what;
  return "after " + std::to_string(trigger.bytes) + " bytes of " + what;
}

re2::RE2::Options Quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

// Kinds that compare one value of the event.
bool MatchesOther(const Trigger& trigger, const Event& event) {
  const auto is_boot = [&] { return trigger.number == 0 || event.boot == trigger.number; };
  switch (trigger.kind) {
    case Trigger::Kind::kStep:
      return event.Is<StepEvent>() && event.As<StepEvent>()->step == trigger.number;
    case Trigger::Kind::kPrepare:
      return event.Is<PrepareEvent>() && event.As<PrepareEvent>()->attempt == trigger.number;
    case Trigger::Kind::kStart:
      return event.Is<LiveEvent>() && is_boot();
    case Trigger::Kind::kExit:
      return event.Is<ExitEvent>() && is_boot();
    case Trigger::Kind::kMetric:
      return event.Is<MetricEvent>() && event.As<MetricEvent>()->tag == trigger.pattern;
    case Trigger::Kind::kFault:
      return event.Is<FaultEvent>() && event.As<FaultEvent>()->fault == trigger.pattern;
    case Trigger::Kind::kApi:
      return event.Is<ApiCallEvent>() && event.As<ApiCallEvent>()->method == trigger.pattern;
    case Trigger::Kind::kState:
      return event.Is<StateEvent>() && event.As<StateEvent>()->state == trigger.pattern;
    case Trigger::Kind::kStorage:
    case Trigger::Kind::kLog:
    case Trigger::Kind::kAt:
      return false;
  }
  return false;
}

}  // namespace

struct TriggerCount::Regex {
  explicit Regex(const std::string& pattern) : re(pattern, Quiet()) {}
  re2::RE2 re;
};

TriggerCount::TriggerCount(Trigger trigger, std::string own_replica, Random random)
    : trigger_(std::move(trigger)), random_(random) {
  replica_ = trigger_.replica.empty() ? std::move(own_replica) : trigger_.replica;
  if (trigger_.kind == Trigger::Kind::kLog) regex_ = std::make_unique<Regex>(trigger_.pattern);
}
TriggerCount::~TriggerCount() = default;
TriggerCount::TriggerCount(TriggerCount&&) noexcept = default;

bool TriggerCount::Meet(const Event& event, Phase phase) {
  if (!Matches(event, phase)) return false;
  ++seen_;
  const bool lucky = trigger_.probability >= 1 || random_.Unit() < trigger_.probability;
  return trigger_.nth.Holds(seen_) && lucky;
}

bool TriggerCount::Matches(const Event& event, Phase phase) const {
  const bool whose =
      event.replica.empty() || replica_.empty() || replica_ == "any" || replica_ == event.replica;
  if (!whose && trigger_.kind != Trigger::Kind::kFault) return false;
  if (trigger_.kind == Trigger::Kind::kStorage) {
    const auto* operation = event.As<StorageEvent>();
    return operation && MatchesStorage(*operation, phase);
  }
  if (phase != Phase::kAfter) return false;
  if (trigger_.kind == Trigger::Kind::kLog) {
    const std::string* line = FindPrintedLine(event);
    return line && re2::RE2::PartialMatch(*line, regex_->re);
  }
  return MatchesOther(trigger_, event);
}

bool TriggerCount::MatchesStorage(const StorageEvent& operation, Phase phase) const {
  if (phase != trigger_.phase) return false;
  if (phase == Phase::kMid && operation.bytes != trigger_.bytes) return false;
  const bool writes = operation.op == "create" || operation.op == "overwrite";
  if (operation.op != trigger_.op && !(trigger_.op == "write" && writes)) return false;
  return GlobMatches(trigger_.pattern, operation.object) ||
         (!operation.from.empty() && GlobMatches(trigger_.pattern, operation.from));
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

std::string ObjectGlob(std::string glob) {
  if (glob.starts_with("gs://")) glob.erase(0, 5);
  return glob;
}

std::optional<std::string> RegexProblem(const std::string& pattern) {
  const re2::RE2 re(pattern, Quiet());
  if (re.ok()) return std::nullopt;
  return re.error();
}

std::string Describe(const Trigger& trigger) {
  std::string text;
  switch (trigger.kind) {
    case Trigger::Kind::kStorage:
      text = DescribeStorage(trigger);
      break;
    case Trigger::Kind::kLog:
      text = "after a log line like /" + trigger.pattern + "/";
      break;
    case Trigger::Kind::kStep:
      text = "after step " + std::to_string(trigger.number);
      break;
    case Trigger::Kind::kMetric:
      text = "after a report of " + trigger.pattern;
      break;
    case Trigger::Kind::kState:
      text = "when the job is " + trigger.pattern;
      break;
    case Trigger::Kind::kStart:
      text = trigger.number > 0 ? "at boot " + std::to_string(trigger.number) : "at a boot";
      break;
    case Trigger::Kind::kExit:
      text = "at an exit";
      break;
    case Trigger::Kind::kPrepare:
      text = "while the packages of attempt " + std::to_string(trigger.number) + " are installed";
      break;
    case Trigger::Kind::kApi:
      text = "at a call of " + trigger.pattern;
      break;
    case Trigger::Kind::kFault:
      text = "after fault '" + trigger.pattern + "'";
      break;
    case Trigger::Kind::kAt:
      return HumanDuration(trigger.at) + " after submission";
  }
  if (!trigger.replica.empty()) text += " of " + trigger.replica;
  return text + Describe(trigger.nth);
}

}  // namespace caip::harness
