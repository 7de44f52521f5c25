#include "emulator/play/package_look.h"

#include "emulator/cli/packaging_build.h"
#include "host/process/child_process.h"

namespace caip::play {

Result<Json> LookAtPackages(const Json& asked) {
  const std::vector<std::string> pythons = cli::BuildPythons();
  if (pythons.empty()) {
    return Error{Code::kNotFound, "neither python3 nor python was found to look at packages with"};
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
  return Error{Code::kInternal, "the look at the packages broke: " + complaint};
}

}  // namespace caip::play
