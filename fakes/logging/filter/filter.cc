
#include "fakes/logging/filter/filter.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "fakes/logging/filter/errors.h"

namespace caip::logging {
namespace {

constexpr int kFilterDepthMax = 100;  // limits the recursion

FilterNode CombineNodes(FilterNode::Kind kind, std::vector<FilterNode> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  FilterNode node;
  node.kind = kind;
  node.children = std::move(parts);
  return node;
}

FilterNode NegateNode(FilterNode part) {
  FilterNode node;
  node.kind = FilterNode::Kind::kNot;
  node.children.push_back(std::move(part));
  return node;
}

FilterNode MakeAnywhere(const std::string& text) {
  FilterNode node;
  node.kind = FilterNode::Kind::kAnywhere;
  node.text = FoldCase(text);
  return node;
}

class FilterParser {
 public:
  explicit FilterParser(std::vector<FilterToken> tokens) : tokens_(std::move(tokens)) {}

  Result<FilterNode> Run() {
    if (Now().kind == FilterToken::Kind::kEnd) return FilterNode{};
    ASSIGN_OR_RETURN(FilterNode node, ParseExpression(nullptr));
    if (Now().kind != FilterToken::Kind::kEnd) return Unexpected();
    return node;
  }

 private:
  // Set inside `field op ( ... )`, where values are compared with the field.
  struct Comparand {
    FilterField field;
    FilterOperator op;
  };

  const FilterToken& Now() const { return tokens_[at_]; }
  const FilterToken& Next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  FilterToken Take() { return tokens_[at_++]; }
  Error Unexpected() const { return errors::FilterSyntax(Now().place, Now().text); }

  bool EndsExpression() const {
    return Now().kind == FilterToken::Kind::kEnd || Now().kind == FilterToken::Kind::kRight;
  }

  Result<FilterNode> ParseExpression(const Comparand* comparand) {
    std::vector<FilterNode> parts;
    do {
      if (!parts.empty() && Now().Is("AND")) ++at_;
      ASSIGN_OR_RETURN(FilterNode part, ParseFactor(comparand));
      parts.push_back(std::move(part));
    } while (!EndsExpression() && Now().kind != FilterToken::Kind::kComma);
    return CombineNodes(FilterNode::Kind::kAnd, std::move(parts));
  }

  Result<FilterNode> ParseFactor(const Comparand* comparand) {
    std::vector<FilterNode> parts;
    do {
      if (!parts.empty()) ++at_;  // OR
      ASSIGN_OR_RETURN(FilterNode part, ParseTerm(comparand));
      parts.push_back(std::move(part));
    } while (Now().Is("OR"));
    return CombineNodes(FilterNode::Kind::kOr, std::move(parts));
  }

  Result<FilterNode> ParseTerm(const Comparand* comparand) {
    if (++depth_ > kFilterDepthMax) return errors::FilterTooDeep(Now().place, kFilterDepthMax);
    auto node = ParseTermBelow(comparand);
    --depth_;
    return node;
  }

  Result<FilterNode> ParseTermBelow(const Comparand* comparand) {
    if (Now().kind == FilterToken::Kind::kMinus || Now().Is("NOT")) {
      ++at_;
      ASSIGN_OR_RETURN(FilterNode part, ParseTerm(comparand));
      return NegateNode(std::move(part));
    }
    if (Now().kind == FilterToken::Kind::kLeft) {
      ++at_;
      ASSIGN_OR_RETURN(FilterNode node, ParseExpression(comparand));
      if (Now().kind != FilterToken::Kind::kRight) return Unexpected();
      ++at_;
      return node;
    }
    if (Now().Is("AND") || Now().Is("OR")) return Unexpected();
    if (Now().kind != FilterToken::Kind::kWord && Now().kind != FilterToken::Kind::kQuoted)
      return Unexpected();
    if (comparand) return MakeComparison(*comparand, Take());
    const bool is_word = Now().kind == FilterToken::Kind::kWord;
    if (is_word && Next().kind == FilterToken::Kind::kLeft && Next().is_adjacent)
      return ParseFunction();
    if (Next().kind == FilterToken::Kind::kOperator) return ParseComparison();
    return MakeAnywhere(Take().text);
  }

  Result<FilterField> ParseField(const FilterToken& token) const {
    if (token.kind != FilterToken::Kind::kWord)
      return errors::FilterSyntax(token.place, token.text);
    const auto field = ResolveField(token.segments);
    if (!field) return errors::FilterFieldUnknown(token.place, token.text);
    return *field;
  }

  Result<FilterNode> ParseComparison() {
    ASSIGN_OR_RETURN(FilterField field, ParseField(Take()));
    const Comparand comparand{std::move(field), *ParseFilterOperator(Take().text)};
    if (Now().kind == FilterToken::Kind::kLeft) return ParseTermBelow(&comparand);
    const bool is_word = Now().kind == FilterToken::Kind::kWord;
    if (Now().Is("AND") || Now().Is("OR") || Now().Is("NOT")) return Unexpected();
    if (!is_word && Now().kind != FilterToken::Kind::kQuoted) return Unexpected();
    return MakeComparison(comparand, Take());
  }

  static Result<FilterNode> MakeComparison(const Comparand& comparand, const FilterToken& value) {
    ASSIGN_OR_RETURN(FilterComparison comparison,
                     FilterComparison::Make(comparand.field, comparand.op, value));
    FilterNode node;
    node.kind = FilterNode::Kind::kCompare;
    node.comparison = std::move(comparison);
    return node;
  }

  // name(a, b)
  Result<FilterNode> ParseFunction() {
    const FilterToken name = Take();
    std::vector<FilterToken> arguments;
    do {
      ++at_;  // the parenthesis, a comma
      if (arguments.empty() && Now().kind == FilterToken::Kind::kRight) break;
      if (Now().kind != FilterToken::Kind::kWord && Now().kind != FilterToken::Kind::kQuoted)
        return Unexpected();
      arguments.push_back(Take());
    } while (Now().kind == FilterToken::Kind::kComma);
    if (Now().kind != FilterToken::Kind::kRight) return Unexpected();
    ++at_;
    const std::string function = FoldCase(name.text);
    if (function == "log_id") return MakeLogId(name, arguments);
    if (function == "search") return MakeSearch(name, arguments);
    if (function == "sample") return MakeSample(name, arguments);
    return errors::FilterFunctionUnknown(name.place, name.text);
  }

  static Result<FilterNode> MakeLogId(const FilterToken& name,
                                      const std::vector<FilterToken>& arguments) {
    if (arguments.size() != 1) return errors::FilterArguments(name.place, "log_id(\"LOG_ID\")");
    FilterNode node;
    node.kind = FilterNode::Kind::kLogId;
    node.text = FoldCase(arguments[0].text);
    return node;
  }

  Result<FilterNode> MakeSearch(const FilterToken& name,
                                const std::vector<FilterToken>& arguments) const {
    if (arguments.empty() || arguments.size() > 2 ||
        arguments.back().kind != FilterToken::Kind::kQuoted) {
      return errors::FilterArguments(name.place, "SEARCH(\"words\") or SEARCH(field, \"words\")");
    }
    FilterNode node;
    node.kind = FilterNode::Kind::kSearch;
    node.text = arguments.back().text;
    node.words = SearchWords(arguments.back().text);
    if (arguments.size() == 2) {
      ASSIGN_OR_RETURN(node.field, ParseField(arguments[0]));
    }
    return node;
  }

  Result<FilterNode> MakeSample(const FilterToken& name,
                                const std::vector<FilterToken>& arguments) const {
    const Error broken =
        errors::FilterArguments(name.place, "sample(field, fraction), the fraction from 0 to 1");
    if (arguments.size() != 2) return broken;
    FilterNode node;
    node.kind = FilterNode::Kind::kSample;
    ASSIGN_OR_RETURN(node.field, ParseField(arguments[0]));
    const std::string& text = arguments[1].text;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), node.fraction);
    if (code != std::errc() || end != text.data() + text.size()) return broken;
    if (!(node.fraction >= 0 && node.fraction <= 1)) return broken;
    return node;
  }

  std::vector<FilterToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

void MoveUpperTimes(FilterNode& node, const std::function<Instant(Instant)>& moved) {
  for (FilterNode& child : node.children) MoveUpperTimes(child, moved);
  if (!node.comparison || node.comparison->field().path.front() != "timestamp") return;
  const FilterOperator op = node.comparison->op();
  if (op == FilterOperator::kLess || op == FilterOperator::kLessEqual) {
    node.comparison->SetTime(moved(node.comparison->period().first));
  }
}

}  // namespace

Filter Filter::WithUpperTimes(const std::function<Instant(Instant)>& moved) const {
  FilterNode root = *root_;
  MoveUpperTimes(root, moved);
  Filter filter;
  filter.root_ = std::make_shared<const FilterNode>(std::move(root));
  return filter;
}

Result<Filter> Filter::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<FilterToken> tokens, TokenizeFilter(text));
  ASSIGN_OR_RETURN(FilterNode root, FilterParser(std::move(tokens)).Run());
  Filter filter;
  filter.root_ = std::make_shared<const FilterNode>(std::move(root));
  return filter;
}

// Matching of entries.

namespace {

const Json* FindValue(const Json& entry, const std::vector<std::string>& path) {
  const Json* value = &entry;
  for (const std::string& name : path) {
    value = Member(*value, name);
    if (!value) return nullptr;
  }
  return value;
}

// Searches for words in any order, and for phrases between backticks, whose words must be adjacent.
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
    const std::vector<std::string> words = SearchWords(ScalarText(value));
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

// Chooses entries by a hash of the field (FNV-1a, its bits mixed), so that every listing has the
// same entries.
bool IsSampled(const FilterNode& node, const Json& entry) {
  const Json* value = FindValue(entry, node.field.path);
  if (!value) return false;
  uint64_t hash = Fnv1a(ScalarText(*value));
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
