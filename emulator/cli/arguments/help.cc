// `help` and `completion`.

#include "base/text.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/completion/scripts.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

constexpr std::string_view kSettingsTopic = "settings";

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

// All settings once, for all commands that take them.
std::shared_ptr<const CommandShape> SettingsPage(const CommandShape& root) {
  auto page = std::make_shared<CommandShape>();
  page->name = kSettingsTopic;
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

Result<std::shared_ptr<const CommandShape>> PageOf(const std::shared_ptr<const CommandShape>& root,
                                                   const std::vector<std::string>& path) {
  if (path.size() == 1 && path.front() == kSettingsTopic) {
    return std::shared_ptr<const CommandShape>(SettingsPage(*root));
  }
  std::shared_ptr<const CommandShape> page = root;
  for (const std::string& name : path) {
    std::shared_ptr<const CommandShape> next;
    std::vector<std::string> names;
    for (const auto& child : page->children) {
      names.push_back(child->name);
      if (child->name == name) next = child;
    }
    if (!next) return errors::NoSuchCommand(name, names);
    page = next;
  }
  return page;
}

void AddCompletion(Grammar& grammar) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "completion", "Prints a completion script for a shell.",
      "Examples:\n  eval \"$(caip completion bash)\"\n  caip completion zsh > caip.zsh\n"
      "  caip completion fish > caip.fish",
      [shell](const Words&) -> Result<Command> {
        return Command(PrintCommand{CompletionScript(*shell), "", kExitSuccess});
      });
  grammar.Positional(app, "SHELL", Join(CompletedShells(), ", ") + ".",
                     [shell](const std::string& value) -> Status {
                       if (CompletionScript(value).empty()) {
                         return errors::NoSuchChoice(value, CompletedShells());
                       }
                       *shell = value;
                       return Ok{};
                     });
  grammar.Suggest(app, "SHELL", {.kind = Values::Kind::kWords, .words = CompletedShells});
}

}  // namespace

void AddHelpCommands(Grammar& grammar) {
  AddCompletion(grammar);
  const auto path = std::make_shared<std::vector<std::string>>();
  CLI::App& help =
      grammar.Leaf(grammar.root(), "help", "Shows the help of a command, or all settings.",
                   "Examples:\n  caip help jobs submit training\n  caip help settings",
                   [&grammar, path](const Words&) -> Result<Command> {
                     ASSIGN_OR_RETURN(auto page, PageOf(grammar.Shape(), *path));
                     return Command(HelpCommand{std::move(page), HelpKind::kLong});
                   });
  grammar.OptionalWords(help, "COMMAND", "Words of a command; or settings.", Append(path.get()));
  grammar.Suggest(help, "COMMAND", {.kind = Values::Kind::kCommands});
}

}  // namespace caip::cli
