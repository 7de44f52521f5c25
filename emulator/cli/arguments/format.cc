// Which command takes which --format. Looked at before anything is done, so that a wrong one costs
// nothing (exit code 2).

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_errors.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Status ParsesAsFormat(const std::string& format) {
  const auto expression = ParseFormat(format);
  return expression.ok() ? Status(Ok{}) : Status(expression.error());
}

}  // namespace

Status CheckFormat(const Command& command, const GcloudFlags& gcloud) {
  if (!gcloud.format) return Ok{};
  const std::string& format = *gcloud.format;
  const auto resource = [&](const auto&) { return ParsesAsFormat(format); };
  return std::visit(
      Overloaded{
          [&](const SubmitCommand& submit) { return resource(submit); },
          [&](const DescribeCommand& describe) { return resource(describe); },
          [&](const ListCommand& list) { return resource(list); },
          [&](const CancelCommand& cancel) { return resource(cancel); },
          [&](const UpdateCommand& update) { return resource(update); },
          [&](const TrialsCommand& trials) { return resource(trials); },
          [&](const DoctorCommand&) -> Status {
            if (format == "text" || format == "json") return Ok{};
            return errors::Argument("--format", errors::NoSuchChoice(format, {"json", "text"}));
          },
          [](const EnvCommand&) -> Status { return Ok{}; },    // has formats of its own
          [](const PrintCommand&) -> Status { return Ok{}; },  // help
          [](const auto&) -> Status { return errors::FormatNotTaken(); }},
      command);
}

}  // namespace caip::cli
