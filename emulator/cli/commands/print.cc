// Help, completion scripts and usage errors: text and an exit code.

#include "emulator/cli/commands/commands.h"

namespace caip::cli {

int RunPrint(const PrintCommand& command, const Surroundings& world) {
  if (!command.out.empty()) world.io.out(command.out);
  if (!command.err.empty()) world.io.err(command.err);
  return command.exit_code;
}

}  // namespace caip::cli
