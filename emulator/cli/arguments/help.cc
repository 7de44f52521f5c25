// `help` and `completion`.

#include "base/text.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/arguments/help_parts.h"
#include "emulator/cli/completion/scripts.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

constexpr std::string_view kSettingsTopic = "settings";

Result<std::shared_ptr<const CommandShape>> PageOf(const std::shared_ptr<const CommandShape>& root,
                                                   const std::vector<std::string>& path) {
  if (path.size() == 1 && path.front() == kSettingsTopic) {
    return SettingsPage(*root);
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

struct AskedHelp {
  std::vector<std::string> path;
  std::optional<std::string> man_directory;
  bool is_markdown = false;
};

Result<Command> AnswerToHelp(const AskedHelp& asked, const Grammar& grammar) {
  const int forms = !asked.path.empty() + asked.man_directory.has_value() + asked.is_markdown;
  if (forms > 1) {
    return errors::Argument("COMMAND", errors::AtMostOneOf({"COMMAND", "--man", "--markdown"}));
  }
  if (asked.man_directory || asked.is_markdown) {
    return Command(ReferenceCommand{grammar.Shape(), asked.man_directory});
  }
  ASSIGN_OR_RETURN(auto page, PageOf(grammar.Shape(), asked.path));
  return Command(HelpCommand{std::move(page), HelpKind::kLong});
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
  const auto asked = std::make_shared<AskedHelp>();
  CLI::App& help =
      grammar.Leaf(grammar.root(), "help", "Shows the help of a command, or all settings.",
                   "Examples:\n  caip help jobs submit training\n  caip help settings\n"
                   "  caip help --man man1\n  caip help --markdown > commands.md",
                   [&grammar, asked](const Words&) { return AnswerToHelp(*asked, grammar); });
  grammar.OptionalWords(help, "COMMAND", "Words of a command; or settings.", Append(&asked->path));
  grammar.Flag(help, "--man", "DIR",
               "Write manual pages of all commands into this directory: caip.1, caip-jobs.1 and so "
               "on.",
               To(&asked->man_directory));
  grammar.Switch(help, "--markdown", "Print the reference of all commands in Markdown.",
                 &asked->is_markdown);
  grammar.Suggest(help, "COMMAND", {.kind = Values::Kind::kCommands});
}

}  // namespace caip::cli
