#include "emulator/cli/arguments/grammar.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "emulator/cli/arguments/command_words.h"
#include "emulator/cli/arguments/help_text.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

// A usage error, thrown out of CLI11's walk over the words.
struct WrongWord {
  Error error;
};

std::vector<CLI::App*> Children(CLI::App* app) {
  return app->get_subcommands([](CLI::App*) { return true; });
}

std::vector<std::string> ChildNames(CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* child : Children(app)) names.push_back(child->get_name());
  return names;
}

CLI::App* Child(CLI::App* app, const std::string& name) {
  for (CLI::App* child : Children(app)) {
    if (child->get_name() == name) return child;
  }
  return nullptr;
}

Error UnknownCommand(CLI::App* app, const std::string& word) {
  const bool is_first = app->get_parent() == nullptr;
  if (is_first && word == "gcloud") return errors::GcloudWord();
  return errors::NoSuchCommand(word, ChildNames(app));
}

CLI::Option* FindFlag(CLI::App* app, const std::string& name) {
  for (; app; app = app->get_parent()) {
    if (CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

}  // namespace

struct Grammar::Impl {
  struct Definition {
    std::vector<std::string> names;  // of a flag; empty: a word, which is always defined
    std::function<void(CLI::App&)> define;
  };
  struct Known {
    std::shared_ptr<CommandShape> shape = std::make_shared<CommandShape>();
    // The flags that the command line has not named. CLI11 takes longer to define all flags than
    // many commands take to run.
    std::vector<Definition> undefined;
    Finish finish;  // empty for a group
    std::string user_args_remedy;
    bool is_defined = true;  // its flags are
  };

  CLI::App root{"", "caip"};
  std::map<const CLI::App*, Known> commands;
  std::optional<std::set<std::string>> named;  // the words that may name commands; nullopt: all
  std::string heading{kMainFlags};
  std::set<std::string> dashed;     // the words that begin with '-', up to '='
  std::vector<std::string> values;  // by the number of the placeholder
  std::function<Status(const Command&)> check = [](const Command&) -> Status { return Ok{}; };

  // Stores a value. Returns a word that CLI11 can only read as a value.
  std::string Placeholder(const std::string& value) {
    values.push_back(value);
    return "\x1f" + std::to_string(values.size() - 1);
  }
  const std::string& ValueOf(const std::string& placeholder) const {
    return values[std::stoul(placeholder.substr(1))];
  }

  const CommandShape& ShapeOf(const CLI::App* app) const { return *commands.at(app).shape; }

  bool IsGiven(const Definition& definition) const {
    const auto& names = definition.names;
    return names.empty() || std::any_of(names.begin(), names.end(),
                                        [this](const auto& name) { return dashed.contains(name); });
  }

  // Defines the flags that the command line has, of a command that it names.
  CLI::App* Entered(CLI::App* app) {
    std::vector<Definition>& undefined = commands[app].undefined;
    for (Definition& definition : undefined) {
      if (IsGiven(definition)) std::exchange(definition.define, nullptr)(*app);
    }
    std::erase_if(undefined, [](const Definition& definition) { return !definition.define; });
    return app;
  }

  // Defines all flags of a command and of the groups above it.
  void DefineAll(CLI::App* app) {
    for (; app; app = app->get_parent()) {
      for (const Definition& definition : std::exchange(commands[app].undefined, {})) {
        definition.define(*app);
      }
    }
  }

  static std::vector<std::string> NamesOf(const FlagShape& shape) {
    return shape.is_word ? std::vector<std::string>() : Split(shape.name, ',');
  }

  // Adds a flag or a word.
  void AddValue(const CLI::App& app, FlagShape added, Setter set) {
    Known& known = commands[&app];
    if (!known.is_defined) return;
    added.heading = heading;
    const FlagShape& shape = known.shape->flags.emplace_back(std::move(added));
    auto take = [this, &shape, set = std::move(set)](const std::vector<std::string>& given) {
      for (const std::string& placeholder : given) {
        const Status status = set(ValueOf(placeholder));
        if (!status.ok()) throw WrongWord{errors::Argument(shape.name, status.error())};
      }
    };
    auto define = [&shape, take = std::move(take)](CLI::App& defined) {
      CLI::Option* option = defined.add_option_function<std::vector<std::string>>(shape.name, take);
      option->required(shape.is_required)->take_all()->expected(1)->allow_extra_args(false);
      if (shape.is_many) option->expected(-1);
    };
    known.undefined.push_back({NamesOf(shape), std::move(define)});
  }

  void AddSwitch(const CLI::App& app, const std::string& name, const std::string& help,
                 std::function<void(bool on)> set) {
    Known& known = commands[&app];
    if (!known.is_defined) return;
    known.shape->flags.push_back({.name = name, .help = help, .heading = heading});
    const std::string negated = "--no-" + name.substr(name.find("--") + 2);
    auto define = [name, negated, set = std::move(set)](CLI::App& defined) {
      defined.add_flag_callback(name, [set] { set(true); });
      defined.add_flag_callback(negated, [set] { set(false); });
    };
    std::vector<std::string> names = Split(name, ',');
    names.push_back(negated);
    known.undefined.push_back({std::move(names), std::move(define)});
  }

  // As in argparse, `--known=anything` is a flag even with blanks in it.
  bool IsFlag(CLI::App* app, const std::string& word) const {
    if (word.size() < 2 || word[0] != '-') return false;
    return LooksLikeFlag(word) || FindFlag(app, word.substr(0, word.find('=')));
  }

  // The words for CLI11: commands and flag names unchanged, values replaced by placeholders.
  struct Scan {
    CLI::App* app;
    std::vector<std::string> words;
    std::vector<std::string> unknown;
    std::vector<std::string> positionals;
    std::set<std::string> given;  // names of flags
    std::optional<HelpKind> help;
    bool version = false;
  };

  void ScanFlag(Scan& scan, const std::vector<std::string>& own, size_t& i) {
    const std::string& word = own[i];
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (name == "--help" || name == "-h") {
      scan.help = name == "-h" ? HelpKind::kShort : HelpKind::kLong;
      return;
    }
    if (name == "--version" && scan.app == &root) {
      scan.version = true;
      return;
    }
    const CLI::Option* option = FindFlag(scan.app, name);
    if (!option || option->get_positional()) {
      scan.unknown.push_back(word);
      return;
    }
    scan.given.insert(option->get_name());
    scan.words.push_back(name);
    if (option->get_items_expected_max() == 0) {
      if (equals == std::string::npos) return;
      throw WrongWord{errors::Argument(name, errors::TakesNoValue(word.substr(equals + 1)))};
    }
    if (equals != std::string::npos) {
      scan.words.push_back(Placeholder(word.substr(equals + 1)));
    } else if (i + 1 < own.size() && !IsFlag(scan.app, own[i + 1])) {
      scan.words.push_back(Placeholder(own[++i]));
    } else {
      throw WrongWord{errors::Argument(name, errors::ExpectedOneArgument())};
    }
  }

  void ScanWord(Scan& scan, const std::string& word) {
    if (commands.at(scan.app).finish) {
      const std::vector<const FlagShape*> known = ShapeOf(scan.app).Words();
      scan.positionals.push_back(word);
      const bool is_many = !known.empty() && known.back()->is_many;
      if (is_many || scan.positionals.size() <= known.size()) {
        scan.words.push_back(Placeholder(word));
      } else {
        scan.unknown.push_back(word);
      }
      return;
    }
    if (CLI::App* child = Child(scan.app, word)) {
      scan.words.push_back(word);
      scan.app = Entered(child);
      return;
    }
    throw WrongWord{UnknownCommand(scan.app, word)};
  }

  void CheckComplete(const Scan& scan) {
    if (!commands.at(scan.app).finish) {
      throw WrongWord{errors::CommandMissing(ChildNames(scan.app))};
    }
    size_t words = 0;
    for (const FlagShape& flag : ShapeOf(scan.app).flags) {
      const bool is_given =
          flag.is_word ? words++ < scan.positionals.size() : scan.given.contains(flag.name);
      if (flag.is_required && !is_given) {
        throw WrongWord{errors::Argument(flag.name, errors::MustBeSpecified())};
      }
    }
    if (scan.unknown.empty()) return;
    DefineAll(scan.app);
    std::vector<std::string> names = {"--help"};
    for (const CLI::App* app = scan.app; app; app = app->get_parent()) {
      for (const CLI::Option* option : app->get_options()) {
        if (!option->get_positional()) names.push_back(option->get_name());
      }
    }
    const std::string& first = scan.unknown.front();
    const std::string name = first.starts_with("--") ? first.substr(0, first.find('=')) : "";
    const std::string nearest = NearestName(name, names);
    const Known& known = commands.at(scan.app);
    std::string remedy = known.user_args_remedy;
    if (remedy.empty()) remedy = errors::TrainerArgument(known.shape->path, first);
    const bool may_be_user_arg = known.shape->takes_user_args && nearest.empty();
    throw WrongWord{
        errors::UnrecognizedArguments(scan.unknown, nearest, may_be_user_arg ? remedy : "")};
  }

  Command Refusal(const CLI::App* app, const Error& error) const {
    const CommandShape& shape = ShapeOf(app);
    return PrintCommand{"",
                        "ERROR: (" + ReplaceAll(shape.path, " ", ".") + ") " + error.message +
                            "\n" + UsageOf(shape, std::string::npos) +
                            "\nFor all flags and examples, run:\n  " + shape.path + " --help\n",
                        kExitUsage};
  }

  Command Walk(Scan& scan, const Words& words) {
    for (const std::string& word : words.own) {
      if (word.starts_with('-')) dashed.insert(word.substr(0, word.find('=')));
    }
    scan.app = Entered(&root);
    CLI::App* at = &root;
    const auto takes_value = [&at](const std::string& name) -> std::optional<bool> {
      if (name == "--help" || name == "-h") return false;
      const CLI::Option* flag = FindFlag(at, name);
      return flag ? std::optional(flag->get_items_expected_max() > 0) : std::nullopt;
    };
    const std::vector<std::string> own = WithFlagsAfterCommand(
        words.own, {[&] { return bool{commands.at(at).finish}; },
                    [&](const std::string& name) { return Child(at, name) != nullptr; },
                    [&](const std::string& name) { at = Child(at, name); }, takes_value});
    for (size_t i = 0; i < own.size(); ++i) {
      if (IsFlag(scan.app, own[i])) {
        ScanFlag(scan, own, i);
      } else {
        ScanWord(scan, own[i]);
      }
    }
    if (scan.version) return VersionCommand{};
    if (scan.help) return HelpCommand{commands.at(scan.app).shape, *scan.help};
    const Known& known = commands.at(scan.app);
    if (words.user_args && !known.shape->takes_user_args) {
      throw WrongWord{errors::NothingAfterBar(known.user_args_remedy)};
    }
    CheckComplete(scan);
    std::reverse(scan.words.begin(), scan.words.end());  // the order that CLI11 reads
    root.parse(scan.words);
    Result<Command> command = known.finish(words);
    if (!command.ok()) throw WrongWord{command.error()};
    if (const Status fits = check(*command); !fits.ok()) throw WrongWord{fits.error()};
    return std::move(command).value();
  }
};

Grammar::Grammar() : impl_(std::make_unique<Impl>()) {
  CommandShape& shape = *impl_->commands[&impl_->root].shape;
  shape.name = shape.path = "caip";
  shape.description = "Runs training jobs of AI Platform Training on this machine.";
  impl_->root.fallthrough();
  impl_->root.set_help_flag();
}

Grammar::Grammar(const std::vector<std::string>& words) : Grammar() {
  impl_->named.emplace(words.begin(), words.end());
}

Grammar::~Grammar() = default;

bool Grammar::Defines(const CLI::App& app) const { return impl_->commands.at(&app).is_defined; }

CLI::App& Grammar::root() { return impl_->root; }

void Grammar::Footer(const std::string& text) { impl_->commands[&root()].shape->text = text; }

CLI::App& Grammar::Group(CLI::App& parent, const std::string& name,
                         const std::string& description) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->fallthrough();
  app->set_help_flag();
  const Impl::Known& parent_known = impl_->commands.at(&parent);
  Impl::Known& known = impl_->commands[app];
  const bool may_be_named = !impl_->named || impl_->named->contains(name);
  known.is_defined = parent_known.is_defined && may_be_named;
  CommandShape& above = *parent_known.shape;
  const auto& shape = known.shape;
  shape->name = name;
  shape->path = above.path + " " + name;
  shape->description = description;
  above.children.push_back(shape);
  return *app;
}

CLI::App& Grammar::Leaf(CLI::App& parent, const std::string& name, const std::string& description,
                        const std::string& footer, Finish finish) {
  CLI::App& app = Group(parent, name, description);
  Impl::Known& known = impl_->commands[&app];
  known.shape->text = footer;
  known.shape->is_group = false;
  known.finish = std::move(finish);
  return app;
}

void Grammar::Add(CLI::App& app, FlagShape added, Setter set) {
  impl_->AddValue(app, std::move(added), std::move(set));
}

void Grammar::Switch(CLI::App& app, const std::string& name, const std::string& help,
                     std::function<void(bool on)> set) {
  impl_->AddSwitch(app, name, help, std::move(set));
}

void Grammar::Suggest(CLI::App& app, const std::string& name, Values values) {
  impl_->commands[&app].shape->suggestions[name] = std::move(values);
}

void Grammar::Heading(const std::string& heading) { impl_->heading = heading; }

void Grammar::Usages(CLI::App& app, std::vector<std::string> usages) {
  impl_->commands[&app].shape->usages = std::move(usages);
}

void Grammar::TakesNothingAfterBar(CLI::App& app, const std::string& remedy) {
  impl_->commands[&app].user_args_remedy = remedy;
}

void Grammar::TakesUserArgs(CLI::App& app, const std::string& remedy) {
  Impl::Known& known = impl_->commands[&app];
  known.shape->takes_user_args = true;
  known.user_args_remedy = remedy;
}

void Grammar::Check(std::function<Status(const Command&)> check) {
  impl_->check = std::move(check);
}

Command Grammar::Parse(const std::vector<std::string>& words) {
  const auto bar = std::find(words.begin(), words.end(), "--");
  Words cut{{words.begin(), bar}, std::nullopt};
  if (bar != words.end()) cut.user_args = std::vector<std::string>(bar + 1, words.end());
  Impl::Scan scan{};
  try {
    return impl_->Walk(scan, cut);
  } catch (const WrongWord& wrong) {
    return impl_->Refusal(scan.app, wrong.error);
  } catch (const CLI::Error& error) {
    return impl_->Refusal(scan.app, {Code::kInvalidArgument, error.what()});
  }
}

std::shared_ptr<const CommandShape> Grammar::Shape() const {
  return impl_->commands.at(&impl_->root).shape;
}

}  // namespace caip::cli
