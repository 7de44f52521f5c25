#pragma once
// All commands on one page in Markdown: docs/commands.md.

#include <string>

#include "emulator/cli/arguments/command_shape.h"

namespace caip::cli {

std::string MarkdownReference(const CommandShape& root);

}  // namespace caip::cli
