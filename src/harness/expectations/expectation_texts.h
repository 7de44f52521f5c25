#pragma once
// The texts about mistakes in the expectations of a scenario: one maker for each mistake, named
// after it.

#include <cstdint>
#include <string>
#include <string_view>

namespace caip::harness::texts {

// Values.
std::string CountNotValid();
std::string BootNotValid(std::string_view boot);
std::string PeriodNotValid();
std::string ToleranceNegative();
std::string StepRangeNotValid();
std::string MatchMissing();

// Rules of `always`.
std::string IfPresentMissing();
std::string ThenMissing();
std::string UnknownVariable(std::string_view variable);
std::string VariableWithoutValue();
std::string VariableTwice();

// States that contradict each other or the life of a job.
std::string NotAState(std::string_view state);
std::string FirstStateNotQueued();
std::string StateCannotFollow(std::string_view before);
std::string StatesEndOtherwise(std::string_view state, std::string_view last);
std::string StatesLackState(std::string_view state);
std::string SecondEnd(std::string_view state);
std::string ErrorOfSuccess();

// Counts that contradict each other or the life of a job.
std::string TooManyAttempts(int64_t most);
std::string SuccessWithoutAttempt();
std::string TooManyBoots(int64_t most);
std::string TotalTooSmall(int64_t least);
std::string BootAfterLastRestart(std::string_view expected);
std::string StepOutsideSteps();
std::string StepOfSilentBoot();

// Objects.
std::string AbsentAndPresent();
std::string AbsentButCounted();
std::string PresentButCountZero();
std::string WrittenOnceButNever();

}  // namespace caip::harness::texts
