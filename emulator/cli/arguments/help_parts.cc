#include "emulator/cli/arguments/help_parts.h"

#include <algorithm>

#include "base/text.h"

namespace caip::cli {
namespace {

constexpr std::string_view kExamplesHeading = "Examples:\n";

bool HasSettings(const CommandShape& command, size_t at_least) {
  size_t count = 0;
  for (const FlagShape& flag : command.flags) count += flag.heading == kSettingFlags;
  return count >= at_least;
}

// The commands below with so many settings, by their paths.
void FindSettings(const CommandShape& command, size_t at_least, std::vector<std::string>& paths) {
  if (HasSettings(command, at_least)) paths.push_back(command.path);
  for (const auto& child : command.children) FindSettings(*child, at_least, paths);
}

// The commands that take only some settings, and which.
std::string OnlySome(const CommandShape& command, size_t all) {
  std::string text;
  if (HasSettings(command, 1) && !HasSettings(command, all)) {
    std::vector<std::string> names;
    for (const FlagShape& flag : command.flags) {
      if (flag.heading == kSettingFlags) names.push_back(flag.name);
    }
    text = "\n\n" + command.path + " takes only " + Join(names, ", ") + ".";
  }
  for (const auto& child : command.children) text += OnlySome(*child, all);
  return text;
}

void AddToSection(const FlagShape& flag, std::vector<FlagSection>& sections) {
  const auto found =
      std::find_if(sections.begin(), sections.end(),
                   [&flag](const FlagSection& section) { return section.heading == flag.heading; });
  if (found != sections.end()) {
    found->flags.push_back(&flag);
  } else {
    sections.push_back({flag.heading, {&flag}});
  }
}

}  // namespace

HelpParts PartsOf(const CommandShape& page) {
  HelpParts parts;
  for (const FlagShape& flag : page.flags) {
    if (flag.is_word) {
      parts.words.push_back(&flag);
    } else if (flag.heading == kSettingFlags && !page.path.empty()) {
      parts.settings.push_back(&flag);
    } else {
      AddToSection(flag, parts.sections);
    }
  }
  const size_t examples = page.text.find(kExamplesHeading);
  const std::string prose = ReplaceAll(page.text.substr(0, examples), "\n\n", "\f");
  for (const std::string& block : Split(prose, '\f')) {
    const std::string paragraph = ReplaceAll(std::string(Trim(block)), "\n", " ");
    if (!paragraph.empty()) parts.paragraphs.push_back(paragraph);
  }
  if (examples != std::string::npos) {
    parts.examples = page.text.substr(examples + kExamplesHeading.size()) + "\n";
  }
  return parts;
}

std::string FirstSettings(const HelpParts& parts) {
  std::vector<std::string> names;
  for (const FlagShape* flag : parts.settings) {
    if (names.size() < 3) names.push_back(flag->name);
  }
  return Join(names, ", ");
}

std::vector<std::string> UsageLines(const CommandShape& command) {
  std::vector<std::string> lines;
  for (const std::string& usage : command.usages) lines.push_back(command.path + " " + usage);
  if (!lines.empty()) return lines;
  std::string usage = command.path;
  if (command.is_group) return {usage + " COMMAND [flags]"};
  for (const FlagShape* word : command.Words()) {
    usage += " " + (word->is_required ? word->name : "[" + word->name + "]");
    if (word->is_many && word->is_required) usage += "...";
  }
  for (const FlagShape& flag : command.flags) {
    if (flag.is_required && !flag.is_word) usage += " " + flag.name + "=" + flag.metavar;
  }
  return {usage + " [flags]" + (command.takes_user_args ? " [-- USER_ARGS ...]" : "")};
}

std::string HeadOf(const FlagShape& flag) {
  std::string head = flag.name;
  if (!flag.metavar.empty()) head += " " + flag.metavar;
  return ReplaceAll(head, ",--", ", --");
}

std::string TextOf(const FlagShape& flag) {
  return (flag.is_required ? "(required) " : "") + flag.help;
}

std::shared_ptr<const CommandShape> SettingsPage(const CommandShape& root) {
  auto page = std::make_shared<CommandShape>();
  page->name = "settings";
  page->description = "The settings of an emulator, as flags of the commands that may start one.";
  for (const FlagShape& flag : root.FindChild("serve")->flags) {
    if (flag.heading == kSettingFlags) page->flags.push_back(flag);
  }
  std::vector<std::string> paths;
  FindSettings(root, page->flags.size(), paths);
  page->text =
      "Settings take effect when an emulator starts. An emulator that runs already keeps its own. "
      "The configuration file can have them, too, and further ones: docs/configuration.md.\n\n"
      "These commands take all settings: " +
      Join(paths, ", ") + "." + OnlySome(root, page->flags.size());
  return page;
}

}  // namespace caip::cli
