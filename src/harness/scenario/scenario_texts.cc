#include "harness/scenario/scenario_texts.h"

#include "base/text.h"

namespace caip::harness::texts {

std::string WrittenTwice() { return "is written twice. Remove one of the two."; }

std::string WrongKind(std::string_view wanted, std::string_view found) {
  return "must be " + std::string(wanted) + ", not " + std::string(found);
}

std::string NotAWholeNumber(std::string_view found) { return WrongKind("a whole number", found); }

std::string NumberTooLarge() {
  return "is too large. The largest number is " + std::to_string(INT64_MAX) + ".";
}

std::string NumberOutOfRange(int64_t least, int64_t most) {
  return "must be at least " + std::to_string(least) +
         (most == INT64_MAX ? "" : " and at most " + std::to_string(most));
}

std::string NotAboveZero() { return "must be above 0"; }

std::string NotADuration() { return "must be a duration like 250ms, 90s, 20m or 1h30m"; }

std::string NotAList() { return "must be a list"; }

std::string NotOneOf(const std::vector<std::string>& words) {
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return "must be " + Join(first, ", ") + " or " + words.back();
}

std::string RegexNotValid(std::string_view problem) {
  return "is not a valid regular expression (RE2): " + std::string(problem);
}

std::string RegexBesideFormat() {
  return "a trainer reports its steps in one way. Leave out `format` or `regex`.";
}

std::string StepPatternWithoutStep() {
  return "needs a group `step`. Write it like 'step (?P<step>\\d+)'.";
}

std::string UnknownKey(std::string_view key, const std::vector<std::string>& known) {
  return "is not a known key here; the known keys are " + Join(known, ", ") +
         Suggestion(key, known);
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string DescriptionMissing() {
  return "`description` is missing. Set it to a sentence that says what happens.";
}

std::string JobMissing() {
  return "a job is missing. Write `trainer: {command: [...]}`, `job: {submit: [...]}` "
         "`job: {custom_job: {...}}` or `job: {hyperparameter_tuning_job: {...}}`.";
}

std::string TwoJobKinds() {
  return "a scenario has one job. Write one of `submit` and `config` for AI Platform, `create` and "
         "`custom_job` for a custom job of Vertex AI, `tune` and `hyperparameter_tuning_job` for a "
         "tuning job of Vertex AI.";
}

std::string GroupOfOtherJob() {
  return "`ranks` and `cluster` of the trainer make the machines of a job of their own. Write the "
         "worker pools into the job instead.";
}

std::string ArgsOfJobAndTrainer() {
  return "`args` of the job and `args` of the trainer are the same arguments. Leave out one of the "
         "two.";
}

std::string CommandMissing() {
  return "`command` is missing. Set it to the command that the replica runs.";
}

std::string ClusterOfOtherSize(int members_max) {
  return "a cluster has 1 to " + std::to_string(members_max) +
         " members: `- {name: trainer, command: [python3, train.py]}`.";
}

std::string MemberNameNotValid(std::string_view name) {
  return "'" + std::string(name) +
         "' is not a host name. Set `name` to letters a-z, digits and hyphens, at most 63.";
}

std::string MemberNameTaken(std::string_view name) {
  return "two members are called '" + std::string(name) +
         "'. Each machine needs a name of its own.";
}

std::string BesideCluster() {
  return "not allowed beside `cluster`, whose members have their own commands.";
}

std::string JobDirIsADirectory() {
  return "`{job_dir}` in the command is a directory. Write posix, or `{gs_job_dir}` in the "
         "command.";
}
std::string RestartOfOne() { return "needs several machines: `ranks` above 1, or a `cluster`."; }

std::string VolumeIsRoot() {
  return "each run works on a copy of a volume, and '/' is the whole host. Name the directory that "
         "the trainer writes.";
}

std::string TooManyExtends(int files_max) {
  return "the files extend each other in a circle, or more than " + std::to_string(files_max) +
         " of them extend each other";
}

std::string StockOutWithDelay() {
  return "cannot be combined with `provisioning_delay`, because it sets that delay. Remove one of "
         "the two.";
}

std::string BucketNameNotValid(std::string_view name) {
  return "'" + std::string(name) + "' is not a valid bucket name";
}

std::string ObjectNameNotValid(std::string_view name) {
  return "'" + std::string(name) + "' is not a valid object name";
}

std::string NotADirectory(std::string_view path) {
  return "'" + std::string(path) + "' is not a directory";
}

std::string NotAnExpectationOfFile(std::string_view key, const std::vector<std::string>& known) {
  return "is not an expectation of this file; the names that may fail are " + Join(known, ", ") +
         Suggestion(key, known);
}

std::string ReplicaMissing(const std::string& missing, const std::vector<std::string>& replicas) {
  return "the job has no " + missing + "; it has " +
         (replicas.size() > 6 ? replicas.front() + " to " + replicas.back() : Join(replicas, ", "));
}

}  // namespace caip::harness::texts
