#include "emulator/cli/arguments/grammar.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "emulator/cli/arguments/command_words.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

constexpr std::string_view kUserArgs = " [-- USER_ARGS ...]";

// A usage error, thrown out of CLI11's walk over the words.
struct WrongWord {
  Error error;
};

// "caip.jobs.submit.training", as in gcloud's errors.
std::string DottedPath(const CLI::App* app) {
  std::string path;
  for (; app->get_parent(); app = app->get_parent()) path = "." + app->get_name() + path;
  return "caip" + path;
}

std::string PlainPath(const CLI::App* app) { return ReplaceAll(DottedPath(app), ".", " "); }

std::vector<CLI::App*> Children(CLI::App* app) {
  return app->get_subcommands([](CLI::App*) { return true; });
}

CLI::App* Child(CLI::App* app, const std::string& name) {
  for (CLI::App* child : Children(app)) {
    if (child->get_name() == name) return child;
  }
  return nullptr;
}

CLI::Option* FindFlag(CLI::App* app, const std::string& name) {
  for (; app; app = app->get_parent()) {
    if (CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

}  // namespace

struct Grammar::Impl {
  struct Known {
    std::vector<std::pair<std::string, const CLI::Option*>> required;
    size_t positionals = 0;  // the number of words without a flag
    std::vector<std::string> metavars;
    bool many = false;
    bool user_args = false;
    Finish finish;
  };
  using Definition = std::function<void(CLI::App&)>;

  CLI::App root{"Runs training jobs of AI Platform Training on this machine.", "caip"};
  std::map<const CLI::App*, Known> commands;
  // The flags of commands that the command line has not named. CLI11 takes longer to define all
  // flags than many commands take to run.
  std::map<const CLI::App*, std::vector<Definition>> undefined;
  std::string heading = "Flags";
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

  // Defines the flags of a command that the command line names.
  CLI::App* Entered(CLI::App* app) {
    for (const Definition& define : std::exchange(undefined[app], {})) define(*app);
    return app;
  }

  void AddLater(const CLI::App& app, Definition define) {
    undefined[&app].push_back(std::move(define));
  }

  // `adjust` is called with the option when it is defined.
  void AddValue(const CLI::App& app, const std::string& name, const std::string& metavar,
                const std::string& help, Setter set, std::function<void(CLI::Option&)> adjust) {
    auto take = [this, name, set = std::move(set)](const std::vector<std::string>& given) {
      for (const std::string& placeholder : given) {
        const Status status = set(ValueOf(placeholder));
        if (!status.ok()) throw WrongWord{errors::Argument(name, status.error())};
      }
    };
    AddLater(app, [=, heading = heading, take = std::move(take),
                   adjust = std::move(adjust)](CLI::App& defined) {
      CLI::Option* option = defined.add_option_function<std::vector<std::string>>(name, take, help);
      option->type_name(metavar)->group(heading)->take_all()->expected(1)->allow_extra_args(false);
      if (adjust) adjust(*option);
    });
  }

  void AddSwitch(const CLI::App& app, const std::string& name, const std::string& help,
                 std::function<void(bool on)> set) {
    AddLater(app, [=, heading = heading, set = std::move(set)](CLI::App& defined) {
      defined
          .add_flag_callback(
              name, [set] { set(true); }, help)
          ->group(heading);
      const std::string negated = "--no-" + name.substr(name.find("--") + 2);
      defined.add_flag_callback(negated, [set] { set(false); })->group("");
    });
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
    std::set<const CLI::Option*> given;
    bool help = false;
    bool version = false;
  };

  void ScanFlag(Scan& scan, const std::vector<std::string>& own, size_t& i) {
    const std::string& word = own[i];
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (name == "--help" || name == "-h") {
      scan.help = true;
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
    scan.given.insert(option);
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
    const auto known = commands.find(scan.app);
    if (known != commands.end()) {
      scan.positionals.push_back(word);
      if (known->second.many || scan.positionals.size() <= known->second.positionals) {
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
    std::vector<std::string> names;
    for (const CLI::App* child : Children(scan.app)) names.push_back(child->get_name());
    throw WrongWord{errors::NoSuchCommand(word, NearestName(word, names))};
  }

  void CheckComplete(const Scan& scan) const {
    const auto known = commands.find(scan.app);
    if (known == commands.end()) throw WrongWord{errors::CommandMissing()};
    for (size_t i = scan.positionals.size(); i < known->second.positionals; ++i) {
      throw WrongWord{errors::Argument(known->second.metavars[i], errors::MustBeSpecified())};
    }
    for (const auto& [name, option] : known->second.required) {
      if (!scan.given.contains(option)) {
        throw WrongWord{errors::Argument(name, errors::MustBeSpecified())};
      }
    }
    if (scan.unknown.empty()) return;
    std::vector<std::string> names;
    for (const CLI::App* app = scan.app; app; app = app->get_parent()) {
      for (const CLI::Option* option : app->get_options()) {
        if (!option->get_positional()) names.push_back(option->get_name());
      }
    }
    const std::string& first = scan.unknown.front();
    const bool flag = first.starts_with("--");
    throw WrongWord{errors::UnrecognizedArguments(
        scan.unknown, flag ? NearestName(first.substr(0, first.find('=')), names) : "")};
  }

  std::string Usage(const CLI::App* app) const {
    const auto known = commands.find(app);
    std::string usage = "Usage: " + PlainPath(app);
    if (known == commands.end()) return usage + " COMMAND [flags]\n";
    for (const std::string& metavar : known->second.metavars) usage += " " + metavar;
    if (known->second.many && known->second.positionals > 0) usage += "...";
    for (const auto& [name, option] : known->second.required) {
      usage += " " + name + "=" + option->get_type_name();
    }
    return usage + " [flags]" + (known->second.user_args ? std::string(kUserArgs) : "") + "\n";
  }

  // App::help() would show the command that was parsed last.
  static std::string Help(const CLI::App* app) {
    return app->get_formatter()->make_help(app, app->get_name(), CLI::AppFormatMode::Normal);
  }

  Command Refusal(const CLI::App* app, const Error& error) const {
    return PrintCommand{"",
                        "ERROR: (" + DottedPath(app) + ") " + error.message + "\n" + Usage(app) +
                            "\nFor all flags and examples, run:\n  " + PlainPath(app) + " --help\n",
                        kExitUsage};
  }

  Command Walk(Scan& scan, const Words& words) {
    scan.app = Entered(&root);
    CLI::App* at = &root;
    const auto takes_value = [&at](const std::string& name) {
      const CLI::Option* flag = FindFlag(at, name);
      return flag ? std::optional(flag->get_items_expected_max() > 0) : std::nullopt;
    };
    const std::vector<std::string> own = WithFlagsAfterCommand(
        words.own, {[&] { return commands.contains(at); },
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
    if (scan.help) return PrintCommand{Help(scan.app), "", kExitSuccess};
    CheckComplete(scan);
    const Known& known = commands.at(scan.app);
    if (words.user_args && !known.user_args) {
      throw WrongWord{errors::UnrecognizedArguments({"--"}, "")};
    }
    std::reverse(scan.words.begin(), scan.words.end());  // the order that CLI11 reads
    root.parse(scan.words);
    Result<Command> command = known.finish(words);
    if (!command.ok()) throw WrongWord{command.error()};
    if (const Status fits = check(*command); !fits.ok()) throw WrongWord{fits.error()};
    return std::move(command).value();
  }
};

namespace {

/// CLI11's help with our own usage line.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::function<std::string(const CLI::App*)> usage)
      : usage_(std::move(usage)) {
    column_width(34);
    label("REQUIRED", "(required)");
  }
  std::string make_usage(const CLI::App* app, std::string) const override { return usage_(app); }

 private:
  std::function<std::string(const CLI::App*)> usage_;
};

}  // namespace

Grammar::Grammar() : impl_(std::make_unique<Impl>()) {
  Impl* impl = impl_.get();
  impl->root.formatter(
      std::make_shared<HelpFormatter>([impl](const CLI::App* app) { return impl->Usage(app); }));
  impl->root.fallthrough();
}

Grammar::~Grammar() = default;

CLI::App& Grammar::root() { return impl_->root; }

void Grammar::Footer(const std::string& text) { impl_->root.footer(text); }

CLI::App& Grammar::Group(CLI::App& parent, const std::string& name,
                         const std::string& description) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->fallthrough();
  return *app;
}

CLI::App& Grammar::Leaf(CLI::App& parent, const std::string& name, const std::string& description,
                        const std::string& footer, Finish finish) {
  CLI::App& app = Group(parent, name, description);
  app.footer("\n" + footer);
  impl_->commands[&app].finish = std::move(finish);
  return app;
}

void Grammar::Flag(CLI::App& app, const std::string& name, const std::string& metavar,
                   const std::string& help, Setter set) {
  impl_->AddValue(app, name, metavar, help, std::move(set), nullptr);
}

void Grammar::RequiredFlag(CLI::App& app, const std::string& name, const std::string& metavar,
                           const std::string& help, Setter set) {
  const auto require = [impl = impl_.get(), &app, name](CLI::Option& option) {
    impl->commands[&app].required.emplace_back(name, option.required());
  };
  impl_->AddValue(app, name, metavar, help, std::move(set), require);
}

void Grammar::Switch(CLI::App& app, const std::string& name, const std::string& help, bool* into) {
  impl_->AddSwitch(app, name, help, [into](bool on) { *into = on; });
}

void Grammar::Switch(CLI::App& app, const std::string& name, const std::string& help,
                     std::function<void(bool on)> set) {
  impl_->AddSwitch(app, name, help, std::move(set));
}

void Grammar::Positional(CLI::App& app, const std::string& metavar, const std::string& help,
                         Setter set, bool many) {
  impl_->AddValue(app, metavar, "", help, std::move(set), [many](CLI::Option& option) {
    option.required();
    if (many) option.expected(-1);
  });
  Impl::Known& known = impl_->commands[&app];
  ++known.positionals;
  known.many = known.many || many;
  known.metavars.push_back(metavar);
}

void Grammar::OptionalWords(CLI::App& app, const std::string& metavar, const std::string& help,
                            Setter set) {
  impl_->AddValue(app, metavar, "", help, std::move(set),
                  [](CLI::Option& option) { option.expected(-1); });
  impl_->commands[&app].many = true;
  impl_->commands[&app].metavars.push_back("[" + metavar + "]");
}

void Grammar::Heading(const std::string& heading) { impl_->heading = heading; }

void Grammar::TakesUserArgs(CLI::App& app) { impl_->commands[&app].user_args = true; }

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

std::optional<std::string> Grammar::HelpFor(const std::vector<std::string>& path) {
  CLI::App* app = &impl_->root;
  for (const std::string& name : path) {
    app = Child(app, name);
    if (!app) return std::nullopt;
  }
  return Impl::Help(impl_->Entered(app));
}

CLI::App& Grammar::AllCommands() {
  std::vector<CLI::App*> apps = {&impl_->root};
  for (size_t i = 0; i < apps.size(); ++i) {
    const auto children = Children(impl_->Entered(apps[i]));
    apps.insert(apps.end(), children.begin(), children.end());
  }
  return impl_->root;
}

}  // namespace caip::cli
