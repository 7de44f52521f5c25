#pragma once
// What a command takes, as data: help pages and completion are made from it.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace caip::cli {

/// The headings of flags that help pages treat in their own way. `-h` lists only the flags below
/// kMainFlags. Those below kSettingFlags are listed once, by `caip help settings`.
inline constexpr std::string_view kMainFlags = "Flags";
inline constexpr std::string_view kSettingFlags = "Settings of the emulator";

/// What completion offers as a value.
struct Values {
  enum class Kind {
    kNone,
    kWords,
    kFiles,
    kDirectories,
    kJobs,
    kUnendedJobs,
    kEndedJobs,
    kCustomJobs,  // of Vertex AI
    kTuningJobs,
    kBuckets,     // their names
    kBucketUris,  // gs://NAME
    kObjects,     // gs://NAME/PATH
    kFilesAndObjects,
    kImages,    // names of the image store
    kCommands,  // the words of a command
  };
  Kind kind = Kind::kNone;
  std::function<std::vector<std::string>()> words = nullptr;  // for kWords; called when needed
  bool is_list = false;  // several values, with commas between them
};

/// A flag, or a word without a flag.
struct FlagShape {
  std::string name = {};     // "-r,--recursive"; of a word its placeholder
  std::string metavar = {};  // "FILE"; "" for switches and words
  std::string help = {};
  std::string heading = {};
  bool is_word = false;
  bool is_required = false;
  bool is_many = false;  // takes all remaining words

  bool IsSwitch() const { return !is_word && metavar.empty(); }
  /// Whether this is the flag `written`, such as "-r" or "--recursive".
  bool IsNamed(std::string_view written) const;
};

/// A command or a group of commands.
struct CommandShape {
  std::string name;             // "list"
  std::string path;             // "caip jobs list"; "" for a page that is about no command
  std::string description;      // one sentence
  std::string text;             // more about it, then the examples
  std::deque<FlagShape> flags;  // and words, in the order of the help
  std::vector<std::shared_ptr<CommandShape>> children;
  bool is_group = true;
  bool takes_user_args = false;
  std::vector<std::string> usages;  // what may follow `path`; empty: the words and flags say it
  /// What completion offers for flags and words, by their names; also for flags of every command.
  std::map<std::string, Values, std::less<>> suggestions;

  const FlagShape* FindFlag(std::string_view written) const;         // nullptr: none
  const CommandShape* FindChild(std::string_view child_name) const;  // nullptr: none
  /// The words without flags, in their order.
  std::vector<const FlagShape*> Words() const;
};

}  // namespace caip::cli
