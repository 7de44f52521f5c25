#include "emulator/cli/commands/conform.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "emulator/cli/output.h"
#include "host/process/helper_files.h"

namespace caip::cli {

int ExecuteJudge(char** argv) {
  const std::string judge = host::HelperFile("caip-conform").string();
  ::execv(judge.c_str(), argv);
  const bool missing = errno == ENOENT;
  std::fprintf(
      stderr, "ERROR: (caip.conform) The judge %s cannot be run: %s.%s\n", judge.c_str(),
      std::strerror(errno),
      missing ? " Build it beside caip with `scripts/build release caip caip-conform`." : "");
  return kExitCannot;
}

}  // namespace caip::cli
