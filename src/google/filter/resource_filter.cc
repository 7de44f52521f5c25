#include "google/filter/resource_filter.h"

#include <algorithm>
#include <variant>

#include "base/json.h"
#include "google/filter/filter_comparison.h"
#include "google/filter/filter_errors.h"

namespace caip::google {

using FilterNodes = std::vector<std::shared_ptr<const FilterNode>>;

/// A node of the tree: a comparison, or what joins others.
struct FilterNode {
  enum class Kind { kAll, kAny, kNot, kComparison } kind = Kind::kComparison;
  FilterNodes children;
  FilterComparison comparison;

  bool Matches(const Json& plain) const {
    const auto matches = [&](const auto& child) { return child->Matches(plain); };
    switch (kind) {
      case Kind::kAll:
        return std::all_of(children.begin(), children.end(), matches);
      case Kind::kAny:
        return std::any_of(children.begin(), children.end(), matches);
      case Kind::kNot:
        return !children.front()->Matches(plain);
      case Kind::kComparison:
        return comparison.Matches(plain);
    }
    return false;
  }
};

namespace {

constexpr int kDepthMax = 50;
constexpr size_t kLengthMax = 4096;

struct OperatorText {
  std::string_view text;
  FilterOperator op;
};

// The longer ones first.
constexpr OperatorText kOperators[] = {
    {"!=", FilterOperator::kUnequal},      {"<=", FilterOperator::kLessEqual},
    {">=", FilterOperator::kGreaterEqual}, {":", FilterOperator::kHas},
    {"=", FilterOperator::kEqual},         {"<", FilterOperator::kLess},
    {">", FilterOperator::kGreater},
};

using Node = std::shared_ptr<const FilterNode>;

Node Joined(FilterNode::Kind kind, FilterNodes children) {
  if (children.size() == 1 && kind != FilterNode::Kind::kNot) return children.front();
  return std::make_shared<FilterNode>(FilterNode{kind, std::move(children), {}});
}

// Reads a filter from left to right; `at_` is the next character.
class Parser {
 public:
  Parser(std::string_view text, const FilterLanguage& language)
      : text_(text), language_(language) {}

  Result<Node> Parse() {
    if (text_.size() > kLengthMax) return Broken(0, errors::FilterTooLong(kLengthMax));
    ASSIGN_OR_RETURN(Node root, Expression());
    SkipBlanks();
    if (at_ < text_.size()) return Broken(at_, errors::FilterConnectiveExpected());
    return root;
  }

 private:
  Result<Node> Expression() {
    FilterNodes factors;
    do {
      ASSIGN_OR_RETURN(Node factor, Factor());
      factors.push_back(std::move(factor));
    } while (TakeWord("AND"));
    return Joined(FilterNode::Kind::kAll, std::move(factors));
  }

  Result<Node> Factor() {
    FilterNodes terms;
    do {
      ASSIGN_OR_RETURN(Node term, Term());
      terms.push_back(std::move(term));
    } while (TakeWord("OR"));
    return Joined(FilterNode::Kind::kAny, std::move(terms));
  }

  Result<Node> Term() {
    if (++depth_ > kDepthMax) return Broken(at_, errors::FilterTooDeep(kDepthMax));
    Result<Node> term = TermBelow();
    --depth_;
    return term;
  }

  Result<Node> TermBelow() {
    if (TakeWord("NOT") || TakeCharacter('-')) {
      ASSIGN_OR_RETURN(Node term, Term());
      return Joined(FilterNode::Kind::kNot, {std::move(term)});
    }
    if (!TakeCharacter('(')) return Comparison();
    ASSIGN_OR_RETURN(Node inner, Expression());
    if (!TakeCharacter(')')) return Broken(at_, errors::FilterParenthesisOpen());
    return inner;
  }

  Result<Node> Comparison() {
    SkipBlanks();
    const size_t begin = at_;
    const std::string_view field = TakeUntil(" \t\r\n()\":=!<>");
    if (field.empty()) return Broken(begin, errors::FilterTermExpected(language_.example));
    SkipBlanks();
    const size_t operator_at = at_;
    const auto op = TakeOperator();
    if (!op) return Broken(operator_at, errors::FilterOperatorExpected(field));
    SkipBlanks();
    const bool is_quoted = at_ < text_.size() && text_[at_] == '"';
    ASSIGN_OR_RETURN(const std::string value, is_quoted ? Quoted() : Word());
    auto comparison = FilterComparison::Make(field, *op, value, is_quoted, language_);
    if (!comparison.ok()) return Broken(begin, comparison.error());
    return Node(std::make_shared<FilterNode>(
        FilterNode{FilterNode::Kind::kComparison, {}, std::move(comparison).value()}));
  }

  std::optional<FilterOperator> TakeOperator() {
    for (const OperatorText& candidate : kOperators) {
      if (!text_.substr(at_).starts_with(candidate.text)) continue;
      at_ += candidate.text.size();
      return candidate.op;
    }
    return std::nullopt;
  }

  Result<std::string> Word() {
    const std::string_view word = TakeUntil(" \t\r\n()\"");
    if (word.empty()) return Broken(at_, errors::FilterValueExpected());
    return std::string(word);
  }

  Result<std::string> Quoted() {
    const size_t begin = at_++;
    std::string value;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return value;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return Broken(begin, errors::FilterQuoteOpen());
  }

  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view TakeUntil(std::string_view stops) {
    const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }

  bool TakeCharacter(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // A word of its own: "ANDROID" is a field's name, "AND(" is AND.
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    const std::string_view after = rest.substr(word.size());
    if (!after.empty() && after.find_first_of(" \t\r\n(") != 0) return false;
    at_ += word.size();
    return true;
  }

  Error Broken(size_t at, const Error& why) const {
    return language_.broken(text_, at, why.message);
  }

  std::string_view text_;
  const FilterLanguage& language_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<ResourceFilter> ResourceFilter::Parse(std::string_view text,
                                             const FilterLanguage& language) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return ResourceFilter();
  ASSIGN_OR_RETURN(Node root, Parser(text, language).Parse());
  return ResourceFilter(std::move(root));
}

bool ResourceFilter::Matches(const Json& plain) const {
  return root_ == nullptr || root_->Matches(plain);
}

}  // namespace caip::google
