#include "harness/expectations/expectation_texts.h"

namespace caip::harness::texts {
namespace {

std::string Contradicts(std::string_view key, std::string_view rule) {
  return "contradicts `" + std::string(key) + "`" + std::string(rule);
}

}  // namespace

std::string CountNotValid() { return "must be a count like 3, 1.. or 0..1"; }

std::string BootNotValid(std::string_view boot) {
  return "'" + std::string(boot) + "' is not a valid boot. Boots are counted from 1.";
}

std::string PeriodNotValid() { return "must be a range of times like 10m..11m or 2h.."; }

std::string ToleranceNegative() { return "must be 0 or more"; }

std::string StepRangeNotValid() {
  return "must be the first and the last step, like 1..40. The range has at most a million steps.";
}

std::string MatchMissing() { return "`match` is missing. Set it to a regular expression."; }

std::string IfPresentMissing() {
  return "`if_present` is missing. Set it to a glob, which may contain {s}.";
}

std::string ThenMissing() { return "a rule is missing. Write then_count or then_same_field."; }

std::string UnknownVariable(std::string_view variable) {
  return "'" + std::string(variable) + "' is not a variable; the only one is {s}";
}

std::string VariableWithoutValue() {
  return "{s} has no value, because `if_present` does not contain {s}";
}

std::string VariableTwice() { return "contains {s} twice. Write it once."; }

std::string NotAState(std::string_view state) {
  return "'" + std::string(state) + "' is not a state of a job";
}

std::string FirstStateNotQueued() { return "a job must begin QUEUED"; }

std::string StateCannotFollow(std::string_view before) {
  return "can never follow " + std::string(before);
}

std::string StatesEndOtherwise(std::string_view state, std::string_view last) {
  return Contradicts("state: " + std::string(state), ": the list ends with " + std::string(last));
}

std::string StatesLackState(std::string_view state) {
  return Contradicts("states", ", which does not contain " + std::string(state));
}

std::string SecondEnd(std::string_view state) {
  return Contradicts("state: " + std::string(state), ": a job ends once");
}

std::string ErrorOfSuccess() {
  return Contradicts("state: SUCCEEDED", ": a job that succeeds has no error");
}

std::string TooManyAttempts(int64_t most) {
  return "can never happen: a job is tried at most " + std::to_string(most) + " times";
}

std::string SuccessWithoutAttempt() {
  return Contradicts("state: SUCCEEDED", ": a job that succeeds is tried at least once");
}

std::string TooManyBoots(int64_t most) {
  return "can never happen: a replica is started at most " + std::to_string(most) + " times";
}

std::string TotalTooSmall(int64_t least) {
  return "contradicts the counts of the replicas, whose sum is at least " + std::to_string(least);
}

std::string BootAfterLastRestart(std::string_view expected) {
  return Contradicts("restarts", ", which expects " + std::string(expected));
}

std::string StepOutsideSteps() { return Contradicts("steps", ", which does not contain it"); }

std::string StepOfSilentBoot() { return Contradicts("no_steps", ", which names this boot"); }

std::string AbsentAndPresent() { return Contradicts("present", ", which contains it"); }

std::string AbsentButCounted() { return Contradicts("count", ", which expects some"); }

std::string PresentButCountZero() { return Contradicts("count", ", which expects none"); }

std::string WrittenOnceButNever() { return Contradicts("writes", ", which expects none"); }

}  // namespace caip::harness::texts
