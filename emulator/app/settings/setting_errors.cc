#include "emulator/app/settings/setting_errors.h"

#include "base/text.h"

namespace caip::app::errors {
namespace {

SettingProblem Value(std::string text) { return {"", std::move(text)}; }

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

SettingProblem NotAText() { return Value("must be a text"); }

SettingProblem NotTrueOrFalse() { return Value("must be true or false"); }

SettingProblem NotAListOfTexts() { return Value("must be a list of texts"); }

SettingProblem NotAMapping() { return Value("must be a mapping"); }

SettingProblem NotOneOf(std::string_view value, const std::vector<std::string>& choices) {
  return Value(Quoted(value) + " is not one of: " + Join(choices, ", "));
}

SettingProblem Because(const Error& cause) { return Value(cause.message); }

SettingProblem NotADuration(std::string_view value) {
  return Value(Quoted(value) + " is not a valid duration. Write it as 30s, 2m or 1h30m.");
}

SettingProblem NotASeed(std::string_view value) {
  return Value(Quoted(value) + " is not a whole number from 0 to 2^64-1");
}

SettingProblem NotANumberUpTo(uint64_t most, std::string_view zero) {
  return Value("must be a number from 0 to " + std::to_string(most) + " (" + std::string(zero) +
               ")");
}

SettingProblem NotAnImage(std::string_view value) {
  return Value(Quoted(value) +
               " is not URI=COMMAND, for example gcr.io/p/trainer:v1='python3 /src/train.py'");
}

SettingProblem NotACommand(std::string_view image) {
  return {std::string(image), "must be a command: a text, or a list of its words"};
}

SettingProblem NotAnInterpreter(std::string_view version) {
  return {std::string(version), "must be the absolute path of a Python interpreter"};
}

SettingProblem NotACompanion(std::string_view name, const std::vector<std::string>& known) {
  return Value("has no emulator called " + Quoted(name) + ". There are " + Join(known, ", "));
}

SettingProblem NotAnSdkPath() { return Value("must be the absolute path of the Cloud SDK"); }

}  // namespace caip::app::errors
