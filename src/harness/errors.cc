#include "harness/errors.h"

#include "base/errors.h"
#include "base/text.h"

namespace caip::harness::errors {

Error ScenarioNotValid(const std::vector<std::string>& mistakes) {
  return {Code::kInvalidArgument, Join(mistakes, "\n")};
}

Error ScenarioMissing(const std::string& file) {
  return {Code::kNotFound, "The file '" + file +
                               "' does not exist. Name a scenario (*.yaml), or a folder that has "
                               "scenarios."};
}

Error EventListNotValid(const std::string& file, int64_t line, const std::string& what) {
  return {Code::kInvalidArgument, file + ":" + std::to_string(line) + ": " + what};
}

Error NotALifetime(std::string_view text) {
  return {Code::kInvalidArgument,
          "'" + std::string(text) +
              "' is not a valid lifetime of machines. Use constant:20m, or exponential:2h, whose "
              "mean is two hours."};
}

Error UnknownEventKind(const std::string& kind) {
  return {Code::kInvalidArgument, "'" + kind + "' is not a valid kind of event"};
}

Error CannotKeepBlocks(const std::string& file, int number) {
  return SystemError("cannot keep the contents of files in '" + file + "'", number);
}

Error TooManyBlocks(uint64_t limit) {
  return {Code::kResourceExhausted,
          "the run wrote more than " + std::to_string(limit) + " bytes, so its files are not kept"};
}

Error NoSuchRecord(const std::string& what) { return {Code::kNotFound, "no such " + what}; }

Error RecordExists() { return {Code::kAlreadyExists, "the record exists already"}; }

Error NoSuchImage() { return {Code::kFailedPrecondition, "no such image"}; }

Error SaveRefused() { return {Code::kResourceExhausted, "disk full"}; }

}  // namespace caip::harness::errors
