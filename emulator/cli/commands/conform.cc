#include "emulator/cli/commands/conform.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "emulator/cli/exit_codes.h"

namespace caip::cli {

int BecomeJudge(char** argv) {
  std::error_code ignored;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string judge = (own.parent_path() / "caip-conform").string();
  ::execv(judge.c_str(), argv);  // argv[0] is the word `conform`, which it does not read
  std::fprintf(stderr, "ERROR: (caip.conform) The judge %s cannot be run: %s.\n", judge.c_str(),
               std::strerror(errno));
  return kExitCannot;
}

}  // namespace caip::cli
