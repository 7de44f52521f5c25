#pragma once
// The commands as manual pages, for `man caip-jobs`.

#include <string>
#include <string_view>
#include <vector>

#include "emulator/cli/arguments/command_shape.h"

namespace caip::cli {

struct ManPage {
  std::string file;  // "caip-jobs.1"
  std::string text;
};

/// The page caip(1), a page for each command or group of commands below it, as git has them, and
/// caip-settings(1). The same commands give the same bytes: the pages have no date.
std::vector<ManPage> ManPages(const CommandShape& root, std::string_view version);

}  // namespace caip::cli
