// `help` and `completion`.

#include <CLI/CLI.hpp>
#include <map>

#include "base/text.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_expression.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

// Adds the flags that may follow each command, by its words: "jobs submit training" -> ...
void CollectFlags(CLI::App& app, const std::string& path, const std::string& inherited,
                  std::string& cases) {
  std::string words = inherited;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && !option->get_group().empty()) {
      words += " " + option->get_name();
    }
  }
  std::string children;
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    children += " " + child->get_name();
    CollectFlags(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), words,
                 cases);
  }
  cases += "    '" + path + "') words='" + std::string(Trim(children + words)) + "' ;;\n";
}

// The known values of a flag, from its help ("none|namespaces") or from a table.
std::string ChoicesOf(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (name == "--scale-tier") return Join(client::ScaleTierChoices(), " ");
  if (name == "--format") return Join(FormatNames(), " ");
  if (name == "--region") {
    std::vector<std::string> regions;
    for (const ml::Region& region : ml::DefaultCatalog().regions()) {
      regions.push_back(region.name);
    }
    return Join(regions, " ");
  }
  const std::string form = option.get_type_name();
  return form.find('|') == form.npos ? "" : ReplaceAll(form, "|", " ");
}

void CollectChoices(CLI::App& app, std::map<std::string, std::string>& choices) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string words = ChoicesOf(*option);
    if (!words.empty()) choices[option->get_name()] = words;
  }
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    CollectChoices(*child, choices);
  }
}

constexpr const char* kScript =
    R"bash(# Completion of caip for @SHELL@. To use it now: eval "$(caip completion @SHELL@)"
@HEAD@_caip() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} path= words= word i
  if [[ $cur == = ]]; then
    cur=
  elif [[ $flag == = ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $flag in
@CHOICES@  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      --) return ;;
      -* | alpha | beta | ai-platform | ml-engine) ;;
      *) [[ " @NAMES@ " == *" $word "* ]] && path="$path $word" ;;
    esac
  done
  case ${path# } in
@CASES@  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _caip caip
)bash";

void CollectNames(CLI::App& app, std::string& names) {
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    names += names.empty() ? child->get_name() : " " + child->get_name();
    CollectNames(*child, names);
  }
}

}  // namespace

std::string CompletionScript(CLI::App& root, const std::string& shell) {
  std::string cases;
  CollectFlags(root, "", "--help", cases);
  std::string names;
  CollectNames(root, names);
  std::string script = ReplaceAll(kScript, "@SHELL@", shell);
  script = ReplaceAll(script, "@HEAD@",
                      shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "");
  std::map<std::string, std::string> choices;
  CollectChoices(root, choices);
  std::string flags;
  for (const auto& [flag, words] : choices) flags += "    " + flag + ") words='" + words + "' ;;\n";
  script = ReplaceAll(script, "@CHOICES@", flags);
  return ReplaceAll(ReplaceAll(script, "@NAMES@", names), "@CASES@", cases);
}

void AddHelpCommands(Grammar& grammar) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& completion =
      grammar.Leaf(grammar.root(), "completion", "Prints a completion script for a shell.",
                   "Examples:\n  eval \"$(caip completion bash)\"\n"
                   "  caip completion zsh > ~/.zsh/caip.zsh",
                   [&grammar, shell](const Words&) -> Result<Command> {
                     CLI::App& root = grammar.AllCommands();
                     return Command(PrintCommand{CompletionScript(root, *shell), "", 0});
                   });
  grammar.Positional(completion, "SHELL", "bash or zsh.",
                     [shell](const std::string& value) -> Status {
                       if (value != "bash" && value != "zsh") {
                         return errors::NoSuchChoice(value, {"bash", "zsh"});
                       }
                       *shell = value;
                       return Ok{};
                     });

  const auto path = std::make_shared<std::vector<std::string>>();
  CLI::App& help = grammar.Leaf(grammar.root(), "help", "Shows the help of a command.",
                                "Examples:\n  caip help jobs submit training",
                                [&grammar, path](const Words&) -> Result<Command> {
                                  std::optional<std::string> text = grammar.HelpFor(*path);
                                  if (!text) return errors::NoSuchCommand(Join(*path, " "), "");
                                  return Command(PrintCommand{std::move(*text), "", 0});
                                });
  grammar.OptionalWords(help, "COMMAND", "Words of a command.",
                        [path](const std::string& value) -> Status {
                          path->push_back(value);
                          return Ok{};
                        });
}

}  // namespace caip::cli
