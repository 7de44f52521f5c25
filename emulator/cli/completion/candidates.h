#pragma once
// The words that a shell offers for the last word of a command line.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/cli/arguments/command_shape.h"

namespace caip::cli {

/// Where the names of jobs, buckets and objects are read. Read from the command line.
struct NamePlace {
  std::optional<std::string> state;    // --state DIR
  std::optional<std::string> project;  // --project PROJECT_ID
};

/// The names of a kind that begin with `begun`. Empty where they cannot be read.
using NameSource = std::function<std::vector<std::string>(Values::Kind kind, const NamePlace& place,
                                                          const std::string& begun)>;

struct Candidate {
  std::string word;       // replaces the last word
  std::string help = {};  // "" if it has none
};

struct Candidates {
  std::vector<Candidate> words;
  bool files = false;        // the shell also offers files,
  bool directories = false;  // or directories
  bool is_open = false;      // more may follow a candidate without a blank
};

/// `words` follow the program's name. The last one is to be completed; it may be "".
Candidates Complete(const CommandShape& root, const std::vector<std::string>& words,
                    const NameSource& names);

/// As the scripts of the shells read it: a line for each word, with a tab before its help. The last
/// line is a colon with `files`, `directories` and `nospace`.
std::string AnswerOf(const Candidates& candidates);

}  // namespace caip::cli
