#include "emulator/cli/arguments/command_words.h"

namespace caip::cli {

bool LooksLikeFlag(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const size_t digits = word.find_first_not_of("0123456789", 1);
  const bool number = digits == std::string::npos ||
                      (word[digits] == '.' && digits + 1 < word.size() &&
                       word.find_first_not_of("0123456789", digits + 1) == std::string::npos);
  return !number && word.find(' ') == std::string::npos;
}

std::vector<std::string> WithFlagsAfterCommand(const std::vector<std::string>& words,
                                               const CommandWalk& walk) {
  std::vector<std::string> path;
  std::vector<std::string> early;
  size_t i = 0;
  for (; i < words.size() && !walk.is_at_command(); ++i) {
    const std::string& word = words[i];
    if (walk.has(word)) {
      path.push_back(word);
      walk.enter(word);
      continue;
    }
    if (!LooksLikeFlag(word) || word == "--version") break;
    early.push_back(word);
    const std::optional<bool> takes = walk.takes_value(word);
    const bool may_take = takes.value_or(word.find('=') == std::string::npos);
    if (!may_take || i + 1 == words.size() || LooksLikeFlag(words[i + 1])) continue;
    if (takes || !walk.has(words[i + 1])) early.push_back(words[++i]);
  }
  if (!walk.is_at_command()) return words;
  path.insert(path.end(), early.begin(), early.end());
  path.insert(path.end(), words.begin() + static_cast<ptrdiff_t>(i), words.end());
  return path;
}

}  // namespace caip::cli
