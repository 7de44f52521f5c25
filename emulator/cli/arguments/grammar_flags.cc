// The kinds of flags and words.

#include "emulator/cli/arguments/command_shape.h"
#include "emulator/cli/arguments/grammar.h"

namespace caip::cli {

void Grammar::Flag(CLI::App& app, const std::string& name, const std::string& metavar,
                   const std::string& help, Setter set) {
  Add(app, {.name = name, .metavar = metavar, .help = help}, std::move(set));
}

void Grammar::RequiredFlag(CLI::App& app, const std::string& name, const std::string& metavar,
                           const std::string& help, Setter set) {
  Add(app, {.name = name, .metavar = metavar, .help = help, .is_required = true}, std::move(set));
}

void Grammar::Switch(CLI::App& app, const std::string& name, const std::string& help, bool* into) {
  Switch(app, name, help, [into](bool on) { *into = on; });
}

void Grammar::Positional(CLI::App& app, const std::string& metavar, const std::string& help,
                         Setter set, bool many) {
  Add(app, {.name = metavar, .help = help, .is_word = true, .is_required = true, .is_many = many},
      std::move(set));
}

void Grammar::OptionalWords(CLI::App& app, const std::string& metavar, const std::string& help,
                            Setter set) {
  Add(app, {.name = metavar, .help = help, .is_word = true, .is_many = true}, std::move(set));
}

}  // namespace caip::cli
