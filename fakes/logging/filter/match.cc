// Whether an entry matches a filter.

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {
namespace {

const Json* FindValue(const Json& entry, const std::vector<std::string>& path) {
  const Json* value = &entry;
  for (const std::string& name : path) {
    value = Member(*value, name);
    if (!value) return nullptr;
  }
  return value;
}

std::string ScalarTextMatch(const Json& value) {
  return value.is_string() ? value.get<std::string>() : CompactJson(value);
}

// Looks for words in any order, and for phrases between backticks whose words follow each other.
class WordSearch {
 public:
  explicit WordSearch(const FilterNode& node) : wanted_(node.words) {
    for (std::string_view rest = node.text; !rest.empty();) {
      const size_t begin = rest.find('`');
      const size_t end = begin == rest.npos ? rest.npos : rest.find('`', begin + 1);
      if (end == rest.npos) return;
      phrases_.push_back(SearchWords(rest.substr(begin + 1, end - begin - 1)));
      rest.remove_prefix(end + 1);
    }
  }

  void Search(const Json& value) {
    if (value.is_structured()) {
      for (const Json& member : value) Search(member);
      return;
    }
    const std::vector<std::string> words = SearchWords(ScalarTextMatch(value));
    std::erase_if(wanted_, [&](const std::string& word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    });
    std::erase_if(phrases_, [&](const std::vector<std::string>& phrase) {
      return std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end();
    });
  }
  bool found() const { return wanted_.empty() && phrases_.empty(); }

 private:
  std::vector<std::string> wanted_;
  std::vector<std::vector<std::string>> phrases_;
};

bool HasWords(const FilterNode& node, const Json& entry) {
  const Json* place = FindValue(entry, node.field.path);
  if (!place) return false;
  WordSearch search(node);
  search.Search(*place);
  return search.found();
}

// The same entries at every look: chosen by a hash (FNV-1a, its bits mixed) of the field.
bool IsSampled(const FilterNode& node, const Json& entry) {
  const Json* value = FindValue(entry, node.field.path);
  if (!value) return false;
  uint64_t hash = Fnv1a(ScalarTextMatch(*value));
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
  hash ^= hash >> 33;
  return static_cast<double>(hash >> 11) < node.fraction * 9007199254740992.0;  // 2^53
}

}  // namespace

bool FilterNode::Matches(const Json& entry) const {
  const auto matches = [&entry](const FilterNode& child) { return child.Matches(entry); };
  switch (kind) {
    case Kind::kAll:
      return true;
    case Kind::kAnd:
      return std::all_of(children.begin(), children.end(), matches);
    case Kind::kOr:
      return std::any_of(children.begin(), children.end(), matches);
    case Kind::kNot:
      return !children.front().Matches(entry);
    case Kind::kCompare:
      return comparison->Matches(entry);
    case Kind::kAnywhere:
      return HasBelow(entry, text);
    case Kind::kLogId:
      return FoldCase(LogIdOfName(StringOr(entry, "logName"))) == text;
    case Kind::kSearch:
      return HasWords(*this, entry);
    case Kind::kSample:
      return IsSampled(*this, entry);
  }
  return false;
}

std::vector<std::string> SearchWords(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : FoldCase(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte >= 0x80) {
      words.back().push_back(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string LogIdOfName(std::string_view log_name) {
  constexpr std::string_view kMark = "/logs/";
  const size_t mark = log_name.find(kMark);
  if (mark == log_name.npos) return "";
  return PercentDecoded(log_name.substr(mark + kMark.size())).value_or("");
}

}  // namespace caip::logging
