#include "emulator/cli/completion/candidates.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "emulator/cli/arguments/command_words.h"

namespace caip::cli {
namespace {

using Kind = Values::Kind;

// The words a|b of a placeholder. Capital letters stand for a value that the user makes up.
std::vector<std::string> ChoicesIn(const std::string& metavar) {
  std::vector<std::string> words;
  if (metavar.find('|') == std::string::npos) return words;
  for (const std::string& word : Split(metavar, '|')) {
    if (word == LowerCase(word)) words.push_back(word);
  }
  return words;
}

Values ValuesByMetavar(const FlagShape& flag) {
  static const std::map<std::string_view, Kind> kinds = {
      {"FILE", Kind::kFiles},
      {"EVENTS", Kind::kFiles},
      {"SOURCE", Kind::kFiles},
      {"DIR", Kind::kDirectories},
      {"JOB", Kind::kJobs},
      {"BUCKET", Kind::kBuckets},
      {"gs://BUCKET", Kind::kBucketUris},
      {"gs://BUCKET/OBJECT", Kind::kObjects},
      {"PATH|URI", Kind::kFilesAndObjects},
  };
  const std::string& metavar = flag.is_word ? flag.name : flag.metavar;
  const auto known = kinds.find(metavar);
  if (known != kinds.end()) return {.kind = known->second};
  const std::vector<std::string> choices = ChoicesIn(metavar);
  if (choices.empty()) return {.kind = Kind::kNone};
  return {.kind = Kind::kWords, .words = [choices] { return choices; }};
}

std::string FirstSentence(const std::string& text) {
  const size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

/// Reads a command line up to its last word, and completes that.
class Completer {
 public:
  Completer(const CommandShape& root, const NameSource& names) : root_(root), names_(names) {
    path_.push_back(&root);
  }

  Candidates Complete(const std::vector<std::string>& words) {
    last_ = words.empty() ? "" : words.back();
    size_t i = 0;
    const auto is_product = [&](std::initializer_list<std::string_view> names) {
      return i + 1 < words.size() && std::find(names.begin(), names.end(), words[i]) != names.end();
    };
    if (is_product({"alpha", "beta"})) ++i;
    if (is_product({"ai-platform", "ml-engine"})) ++i;
    for (; i + 1 < words.size(); ++i) {
      if (words[i] == "--") return UserArguments();
      if (!LooksLikeFlag(words[i])) {
        if (!TakeWord(words[i])) return {};
        continue;
      }
      const bool has_value = words[i].find('=') != std::string::npos;
      const FlagShape* flag = FindFlag(words[i].substr(0, words[i].find('=')));
      if (has_value || !flag || flag->IsSwitch()) {
        if (has_value) Note(words[i].substr(0, words[i].find('=')), AfterEquals(words[i]));
        continue;
      }
      if (i + 2 == words.size()) return ValuesFor(*flag, "", last_);
      Note(words[i], words[i + 1]);
      ++i;
    }
    return Last();
  }

 private:
  static std::string AfterEquals(const std::string& word) {
    return word.substr(word.find('=') + 1);
  }

  const CommandShape& command() const { return *path_.back(); }

  // False if the word is not a command where a command is needed.
  bool TakeWord(const std::string& word) {
    if (!command().is_group) {
      given_.push_back(word);
      return true;
    }
    const CommandShape* child = command().FindChild(word);
    if (child) path_.push_back(child);
    return child != nullptr;
  }

  const FlagShape* FindFlag(const std::string& written) const {
    for (const CommandShape* shape : path_) {
      if (const FlagShape* flag = shape->FindFlag(written)) return flag;
    }
    // A flag may stand before its command. Settings are flags of most commands.
    return command().is_group ? root_.FindChild("serve")->FindFlag(written) : nullptr;
  }

  void Note(const std::string& flag, const std::string& value) {
    if (flag == "--state") place_.state = value;
    if (flag == "--project") place_.project = value;
  }

  Candidates UserArguments() const {
    Candidates candidates;
    candidates.files = command().takes_user_args;
    return candidates;
  }

  Candidates Last() const {
    const size_t equals = last_.find('=');
    if (last_.starts_with("--") && equals != std::string::npos) {
      const FlagShape* flag = FindFlag(last_.substr(0, equals));
      if (!flag || flag->IsSwitch()) return {};
      return ValuesFor(*flag, last_.substr(0, equals + 1), last_.substr(equals + 1));
    }
    if (last_.starts_with("-")) return Flags();
    if (command().is_group) return Children();
    const std::vector<const FlagShape*> words = command().Words();
    if (words.empty()) return last_.empty() ? Flags() : Candidates{};
    if (given_.size() >= words.size() && !words.back()->is_many) {
      return last_.empty() ? Flags() : Candidates{};
    }
    return ValuesFor(*words[std::min(given_.size(), words.size() - 1)], "", last_);
  }

  Candidates Children() const {
    Candidates candidates;
    for (const auto& child : command().children) {
      if (child->name.starts_with(last_)) {
        candidates.words.push_back({child->name, child->description});
      }
    }
    return candidates;
  }

  Candidates Flags() const {
    Candidates candidates;
    const auto add = [&](const std::string& name, const std::string& help) {
      if (name.starts_with(last_)) candidates.words.push_back({name, FirstSentence(help)});
    };
    for (auto shape = path_.rbegin(); shape != path_.rend(); ++shape) {
      for (const FlagShape& flag : (*shape)->flags) {
        if (flag.is_word) continue;
        const std::string name = flag.name.substr(flag.name.find("--"));
        add(name, flag.help);
        if (flag.IsSwitch() && last_.starts_with("--no-")) add("--no-" + name.substr(2), flag.help);
      }
    }
    add("--help", "Shows all flags, and examples.");
    return candidates;
  }

  // `before` stays in front of the value. Of several values with commas, the last one is completed.
  Candidates ValuesFor(const FlagShape& flag, std::string before, std::string begun) const {
    const Values values = ValuesOf(flag);
    if (const size_t comma = begun.rfind(','); values.is_list && comma != std::string::npos) {
      before += begun.substr(0, comma + 1);
      begun = begun.substr(comma + 1);
    }
    const std::vector<std::string> listed = Split(before.substr(before.find('=') + 1), ',');
    Candidates candidates;
    candidates.files = values.kind == Kind::kFiles || values.kind == Kind::kFilesAndObjects;
    candidates.directories = values.kind == Kind::kDirectories;
    candidates.is_open = values.is_list;
    for (const std::string& name : NamesFor(values, begun)) {
      const bool is_listed = std::find(listed.begin(), listed.end(), name) != listed.end();
      if (!name.starts_with(begun) || is_listed) continue;
      candidates.words.push_back({before + name});
      candidates.is_open |= name.ends_with('/') || name.ends_with('=');
    }
    if (begun.starts_with("gs://")) candidates.files = false;
    return candidates;
  }

  Values ValuesOf(const FlagShape& flag) const {
    for (auto shape = path_.rbegin(); shape != path_.rend(); ++shape) {
      const auto found = (*shape)->suggestions.find(flag.name);
      if (found != (*shape)->suggestions.end()) return found->second;
    }
    return ValuesByMetavar(flag);
  }

  std::vector<std::string> NamesFor(const Values& values, const std::string& begun) const {
    switch (values.kind) {
      case Kind::kWords:
        return values.words();
      case Kind::kCommands:
        return CommandWords();
      case Kind::kNone:
      case Kind::kFiles:
      case Kind::kDirectories:
        return {};
      default:
        break;
    }
    std::vector<std::string> names = names_(values.kind, place_, begun);
    const bool is_once = command().Words().size() == 1 && command().Words()[0]->is_many;
    if (is_once) {
      std::erase_if(names, [this](const std::string& name) {
        return std::find(given_.begin(), given_.end(), name) != given_.end();
      });
    }
    return names;
  }

  // The words that may follow those after `help`.
  std::vector<std::string> CommandWords() const {
    const CommandShape* shape = &root_;
    for (const std::string& word : given_) {
      shape = shape->FindChild(word);
      if (!shape) return {};
    }
    std::vector<std::string> names;
    for (const auto& child : shape->children) names.push_back(child->name);
    if (given_.empty()) names.emplace_back("settings");
    return names;
  }

  const CommandShape& root_;
  const NameSource& names_;
  std::vector<const CommandShape*> path_;
  std::vector<std::string> given_;  // words of the command, without flags
  std::string last_;
  NamePlace place_;
};

}  // namespace

Candidates Complete(const CommandShape& root, const std::vector<std::string>& words,
                    const NameSource& names) {
  return Completer(root, names).Complete(words);
}

std::string AnswerOf(const Candidates& candidates) {
  std::string answer;
  for (const Candidate& candidate : candidates.words) {
    if (candidate.word.find_first_of("\t\n") != std::string::npos) continue;
    answer += candidate.word;
    if (!candidate.help.empty()) answer += "\t" + candidate.help;
    answer += "\n";
  }
  answer += ":";
  if (candidates.files) answer += "files ";
  if (candidates.directories) answer += "directories ";
  if (candidates.is_open) answer += "nospace ";
  return answer + "\n";
}

}  // namespace caip::cli
