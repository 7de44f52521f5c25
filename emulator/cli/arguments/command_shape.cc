#include "emulator/cli/arguments/command_shape.h"

#include <algorithm>

#include "base/text.h"

namespace caip::cli {

bool FlagShape::IsNamed(std::string_view written) const {
  if (is_word) return false;
  const std::vector<std::string> names = Split(name, ',');
  return std::find(names.begin(), names.end(), written) != names.end();
}

const FlagShape* CommandShape::FindFlag(std::string_view written) const {
  for (const FlagShape& flag : flags) {
    if (flag.IsNamed(written)) return &flag;
  }
  return nullptr;
}

const CommandShape* CommandShape::FindChild(std::string_view child_name) const {
  for (const auto& child : children) {
    if (child->name == child_name) return child.get();
  }
  return nullptr;
}

std::vector<const FlagShape*> CommandShape::Words() const {
  std::vector<const FlagShape*> words;
  for (const FlagShape& flag : flags) {
    if (flag.is_word) words.push_back(&flag);
  }
  return words;
}

}  // namespace caip::cli
