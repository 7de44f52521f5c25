#pragma once
// The grammar of the command line: commands, flags and the values that they set. CLI11 holds the
// definitions and walks over the words. Words become values as in gcloud's
// argparse: no abbreviations, `--flag=` is an empty value, a value must not look like a flag.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "emulator/cli/arguments/command_shape.h"
#include "emulator/cli/commands/commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace caip::cli {

/// The two parts of a command line.
struct Words {
  std::vector<std::string> own;                       // before the first `--`
  std::optional<std::vector<std::string>> user_args;  // after it
};

/// Parses one command line. It is not reused.
class Grammar {
 public:
  using Setter = std::function<Status(const std::string& value)>;
  /// Called when all flags of a command are set: checks them together and makes the command.
  using Finish = std::function<Result<Command>(const Words& words)>;

  /// Defines the flags of all commands.
  Grammar();
  /// Defines the flags of the commands that these words may name. To define all takes longer than
  /// many commands run.
  explicit Grammar(const std::vector<std::string>& words);
  ~Grammar();
  Grammar(const Grammar&) = delete;

  CLI::App& root();
  /// False if the flags of the command are not defined: those that are added to it are ignored.
  bool Defines(const CLI::App& app) const;
  /// Sets the last part of the program's help.
  void Footer(const std::string& text);
  CLI::App& Group(CLI::App& parent, const std::string& name, const std::string& description);
  CLI::App& Leaf(CLI::App& parent, const std::string& name, const std::string& description,
                 const std::string& footer, Finish finish);
  /// Adds a flag with a value. A flag that is given twice is set twice.
  void Flag(CLI::App& app, const std::string& name, const std::string& metavar,
            const std::string& help, Setter set);
  /// Adds a flag that must be given.
  void RequiredFlag(CLI::App& app, const std::string& name, const std::string& metavar,
                    const std::string& help, Setter set);
  /// Adds --name and --no-name.
  void Switch(CLI::App& app, const std::string& name, const std::string& help, bool* into);
  void Switch(CLI::App& app, const std::string& name, const std::string& help,
              std::function<void(bool on)> set);
  /// Adds a word without a flag. `many` takes all remaining words, at least one.
  void Positional(CLI::App& app, const std::string& metavar, const std::string& help, Setter set,
                  bool many = false);
  /// Adds any number of words without a flag, or none.
  void OptionalWords(CLI::App& app, const std::string& metavar, const std::string& help,
                     Setter set);
  /// Says what completion offers for a flag or a word of this command. Without it, the placeholder
  /// decides: a|b, FILE, DIR, JOB.
  void Suggest(CLI::App& app, const std::string& name, Values values);
  /// Puts all flags that are added from now on under this heading of the help.
  void Heading(const std::string& heading);
  /// Whether the words begin with one of gcloud's release tracks, alpha or beta.
  void SetTrack(bool has_track) { has_track_ = has_track; }
  bool has_track() const { return has_track_; }
  /// What may follow the command's name, if words and flags do not say it: "FILE... [flags]".
  void Usages(CLI::App& app, std::vector<std::string> usages);
  /// `remedy` follows the refusal of `--`.
  void TakesNothingAfterBar(CLI::App& app, const std::string& remedy);
  /// Lets the command take `-- USER_ARGS`.
  /// `remedy` follows the report of an unknown argument, which may belong after `--`. The default
  /// speaks of a trainer.
  void TakesUserArgs(CLI::App& app, const std::string& remedy = "");

  /// Sets a check that every command must pass, in addition to its own checks.
  void Check(std::function<Status(const Command& command)> check);

  /// Returns the command, a help text, or a usage error.
  Command Parse(const std::vector<std::string>& words);
  /// The whole tree of commands.
  std::shared_ptr<const CommandShape> Shape() const;

 private:
  void Add(CLI::App& app, FlagShape added, Setter set);

  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool has_track_ = false;
};

}  // namespace caip::cli
