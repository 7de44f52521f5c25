#pragma once
// The texts about mistakes in a scenario file: one maker for each mistake, named after it.
// Cursor::Wrong puts the file, the line and the name of the value in front. The texts about faults
// are in faults/fault_texts.h, those about expectations in expectations/expectation_texts.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caip::harness::texts {

// Values of any key.
std::string WrittenTwice();
/// Both are kinds in prose: "a string", "a list".
std::string WrongKind(std::string_view wanted, std::string_view found);
std::string NotAWholeNumber(std::string_view found);
std::string NumberTooLarge();
/// `most` is INT64_MAX for a value without an upper limit.
std::string NumberOutOfRange(int64_t least, int64_t most);
std::string NotAboveZero();
std::string NotADuration();
std::string NotAList();
std::string NotOneOf(const std::vector<std::string>& words);
std::string RegexNotValid(std::string_view problem);
std::string StepPatternWithoutStep();
std::string RegexBesideFormat();

/// A misspelt word, with the nearest of `known` as a suggestion.
std::string UnknownKey(std::string_view key, const std::vector<std::string>& known);
/// "; did you mean 'x'?", or "" if none of `known` is near.
std::string Suggestion(std::string_view word, const std::vector<std::string>& known);

// The job and its surroundings.
std::string DescriptionMissing();
std::string JobMissing();
std::string TwoJobKinds();
std::string GroupOfOtherJob();
std::string ArgsOfJobAndTrainer();
std::string CommandMissing();
std::string ClusterOfOtherSize(int members_max);
std::string MemberNameNotValid(std::string_view name);
std::string MemberNameTaken(std::string_view name);
std::string BesideCluster();
std::string RestartOfOne();
std::string JobDirIsADirectory();
std::string VolumeIsRoot();
std::string TooManyExtends(int files_max);
std::string StockOutWithDelay();
std::string BucketNameNotValid(std::string_view name);
std::string ObjectNameNotValid(std::string_view name);
std::string NotADirectory(std::string_view path);
std::string NotAnExpectationOfFile(std::string_view key, const std::vector<std::string>& known);
std::string ReplicaMissing(const std::string& missing, const std::vector<std::string>& replicas);

}  // namespace caip::harness::texts
