#include "emulator/cli/commands/conform.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "emulator/cli/output.h"
#include "host/process/helper_files.h"

namespace caip::cli {

int ExecuteJudge(char** argv) {
  const std::string judge = host::HelperFile("caip-conform").string();
  ::execv(judge.c_str(), argv);
  const bool missing = errno == ENOENT;
  std::string message = "The judge " + judge + " cannot be run: " + std::strerror(errno) + ".";
  if (missing) message += " Build it beside caip with `scripts/build release caip caip-conform`.";
  return Fail(StandardIo(), "conform", message, kExitCannot);
}

}  // namespace caip::cli
