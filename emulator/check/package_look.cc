#include "emulator/check/package_look.h"

#include "client/packaging_build.h"
#include "emulator/check/errors.h"
#include "host/process/child_process.h"

namespace caip::check {

Result<Json> LookAtPackages(const Json& asked) {
  const std::vector<std::string> pythons = client::BuildPythons();
  if (pythons.empty()) {
    return errors::NoPythonToLookWith();
  }
  host::Tool tool;
  tool.argv = {pythons.front(), "-c", std::string(LookAtPackagesText()), CompactJson(asked)};
  tool.environment = host::OwnEnvironment();
  std::string said;
  std::string complaint;
  tool.on_line = [&](host::ToolStream stream, std::string_view line) {
    (stream == host::ToolStream::kOut ? said : complaint).append(line).append("\n");
  };
  ASSIGN_OR_RETURN(const host::ToolResult result, host::RunTool(tool));
  if (result.ok()) return ParseJson(said);
  return errors::PackageLookFailed(complaint);
}

}  // namespace caip::check
