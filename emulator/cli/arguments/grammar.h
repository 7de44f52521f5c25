#pragma once
// The grammar of the command line: commands, flags and the values that they set. CLI11 holds the
// definitions, prints the help and walks over the words. Words become values as in gcloud's
// argparse: no abbreviations, `--flag=` is an empty value, a value must not look like a flag.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
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

/// Built once for each command line; not reused.
class Grammar {
 public:
  using Setter = std::function<Status(const std::string& value)>;
  /// Called when all flags of a command are set: checks them together and makes the command.
  using Finish = std::function<Result<Command>(const Words& words)>;

  Grammar();
  ~Grammar();
  Grammar(const Grammar&) = delete;

  CLI::App& root();
  /// The last part of the program's help.
  void Footer(const std::string& text);
  CLI::App& Group(CLI::App& parent, const std::string& name, const std::string& description);
  CLI::App& Leaf(CLI::App& parent, const std::string& name, const std::string& description,
                 const std::string& footer, Finish finish);
  /// A flag with a value. Given twice, it is set twice.
  void Flag(CLI::App& app, const std::string& name, const std::string& metavar,
            const std::string& help, Setter set);
  /// The flag must be given.
  void RequiredFlag(CLI::App& app, const std::string& name, const std::string& metavar,
                    const std::string& help, Setter set);
  /// --name and --no-name.
  void Switch(CLI::App& app, const std::string& name, const std::string& help, bool* into);
  void Switch(CLI::App& app, const std::string& name, const std::string& help,
              std::function<void(bool on)> set);
  /// A word without a flag; `many` takes all remaining words, at least one.
  void Positional(CLI::App& app, const std::string& metavar, const std::string& help, Setter set,
                  bool many = false);
  /// Any number of words without a flag, also none.
  void OptionalWords(CLI::App& app, const std::string& metavar, const std::string& help,
                     Setter set);
  /// Puts all flags that are added from now on under this heading of the help.
  void Heading(const std::string& heading);
  /// The command takes `-- USER_ARGS`.
  void TakesUserArgs(CLI::App& app);

  /// A check of every command, in addition to the command's own checks.
  void Check(std::function<Status(const Command& command)> check);

  /// The command, a help text, or a usage error.
  Command Parse(const std::vector<std::string>& words);
  /// Help for the command with this path; nullopt if it does not exist.
  std::optional<std::string> HelpFor(const std::vector<std::string>& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Setters for plain values.
Grammar::Setter To(std::optional<std::string>* into);
Grammar::Setter To(std::string* into);
/// For repeatable flags.
Grammar::Setter Append(std::vector<std::string>* into);

}  // namespace caip::cli
