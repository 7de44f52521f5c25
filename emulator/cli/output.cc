#include "emulator/cli/output.h"

#include "base/files.h"

namespace caip::cli {

int Fail(const Io& io, std::string_view command, std::string_view message, int exit_code) {
  io.err("ERROR: (caip." + std::string(command) + ") " + std::string(message) + "\n");
  return exit_code;
}

Status WriteReport(const std::optional<std::string>& file, const std::string& text, const Io& io) {
  if (!file) return Ok{};
  if (*file != "-") return WriteFile(*file, text);
  io.out(text);
  return Ok{};
}

}  // namespace caip::cli
