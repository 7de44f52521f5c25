#include "host/python/setup_expressions.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace caip::host {
namespace {

// Of brackets and calls. A usual script has a few.
constexpr int kNestingMax = 64;
constexpr int kOperandsMax = 20'000;

// The value of a literal. Its text is known if Python changes nothing in it.
SetupValue ValueOfLiteral(std::string_view literal) {
  literal.remove_prefix(literal.find_first_of("'\""));
  const bool is_long = literal.size() >= 6 && literal[1] == literal[0] && literal[2] == literal[0];
  const size_t quotes = is_long ? 3 : 1;
  const std::string_view text = literal.substr(quotes, literal.size() - 2 * quotes);
  if (text.find_first_of("\\\r\n") != std::string_view::npos) return {};
  return {SetupKind::kData, std::string(text)};
}

}  // namespace

SetupExpressions::SetupExpressions(const std::vector<SetupToken>& tokens, SetupUse use)
    : cursor_(tokens), use_(use) {
  names_["__file__"] = {SetupKind::kScript};
  names_["__name__"] = {SetupKind::kData, "__main__"};  // pip and gcloud run it as the main program
  for (const char* constant : {"True", "False", "None"}) names_[constant] = {};
  for (const char* function : {"open", "str", "dict", "len", "list", "sorted", "tuple"}) {
    names_[function] = {SetupKind::kFunction, function};
  }
}

// {'': 'src'} in its place shows all that it holds. Under a name, it may get more later.
void SetupExpressions::Bind(std::string_view name, SetupValue value) {
  if (value.kind == SetupKind::kRootMap) value.kind = SetupKind::kData;
  names_[name] = std::move(value);
}

SetupExpressions::Value SetupExpressions::MemberOf(const std::string& module,
                                                   std::string_view name) {
  std::string full = module + "." + std::string(name);
  if (IsSetupModule(full)) return SetupValue{SetupKind::kModule, std::move(full)};
  if (IsSetupFunction(full)) return SetupValue{SetupKind::kFunction, std::move(full)};
  return std::nullopt;
}

SetupExpressions::Value SetupExpressions::TakeList() {
  const Value first = TakeExpression();
  return first ? TakeMore(*first) : std::nullopt;
}

SetupExpressions::Value SetupExpressions::TakeMore(const SetupValue& first) {
  Value value = first;
  while (cursor_.Takes(",")) {
    if (!IsKnownData(value)) return std::nullopt;
    if (cursor_.Kind() == SetupTokenKind::kLineEnd) return SetupValue{};
    value = TakeExpression();
    if (!IsKnownData(value)) return std::nullopt;
    value = SetupValue{};
  }
  return value;
}

SetupExpressions::Value SetupExpressions::TakeExpression() {
  Value value = TakeCondition();
  while (value && cursor_.Takes("if")) {
    const bool is_known = IsData(*value) && IsKnownData(TakeCondition()) && cursor_.Takes("else") &&
                          IsKnownData(TakeCondition());
    value = DataIf(is_known);
  }
  return value;
}

// Operands with operators. Which of these come first does not matter: data with data is data.
SetupExpressions::Value SetupExpressions::TakeCondition() {
  const bool has_sign = TakeSigns();
  Value value = TakeOperand();
  if (has_sign) value = DataIf(IsKnownData(value));
  while (value) {
    const std::string_view sign = cursor_.Peek();
    if (!TakeOperator()) break;
    const bool next_has_sign = TakeSigns();
    const Value next = TakeOperand();
    if (!next) return std::nullopt;
    if (value->kind == SetupKind::kPath) {
      value = sign == "/" && !next_has_sign ? PathBelow(*value, *next) : std::nullopt;
    } else {
      value = DataIf(IsData(*value) && IsData(*next));
    }
  }
  return value;
}

bool SetupExpressions::TakeSigns() {
  bool has_sign = false;
  while (cursor_.Takes("not") || cursor_.Takes("-") || cursor_.Takes("+")) has_sign = true;
  return has_sign;
}

bool SetupExpressions::TakeOperator() {
  constexpr std::array<std::string_view, 16> kOperators = {
      "and", "or", "in", "is", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "//", "%"};
  if (cursor_.Peek() == "not" && cursor_.Peek(1) == "in")
    return cursor_.Takes("not") && TakeOperator();
  return std::any_of(kOperators.begin(), kOperators.end(),
                     [&](std::string_view each) { return cursor_.Takes(each); });
}

SetupExpressions::Value SetupExpressions::TakeOperand() {
  if (nesting_ >= kNestingMax || ++operands_ > kOperandsMax) return std::nullopt;
  ++nesting_;
  Value value = TakeAtom();
  for (bool goes_on = true; value && goes_on;) {
    if (cursor_.Takes(".")) {
      value = TakeAttribute(*value);
    } else if (cursor_.Takes("(")) {
      value = TakeCall(*value);
    } else if (cursor_.Takes("[")) {
      value = TakeItem(*value);
    } else {
      goes_on = false;
    }
  }
  --nesting_;
  return value;
}

SetupExpressions::Value SetupExpressions::TakeAtom() {
  if (cursor_.Kind() == SetupTokenKind::kText) return TakeText();
  if (cursor_.Kind() == SetupTokenKind::kNumber) {
    cursor_.Take();
    return SetupValue{};
  }
  if (cursor_.Takes("(")) return TakeElements(")");
  if (cursor_.Takes("{")) return TakeEntries();
  if (cursor_.Takes("[")) {
    const auto clauses = cursor_.Find("for");
    return clauses ? TakeComprehension(*clauses, "]") : TakeElements("]");
  }
  const auto name = cursor_.TakeName();
  const auto known = names_.find(name.value_or(""));
  return known == names_.end() ? std::nullopt : Value(known->second);
}

SetupExpressions::Value SetupExpressions::TakeConstant() {
  const std::string_view text = cursor_.Peek();
  const bool is_name = cursor_.Kind() == SetupTokenKind::kName;
  if (is_name && text != "True" && text != "False" && text != "None") return std::nullopt;
  return is_name || cursor_.Kind() != SetupTokenKind::kSign ? TakeAtom() : std::nullopt;
}

SetupValue SetupExpressions::TakeText() {
  SetupValue value = ValueOfLiteral(cursor_.Take());
  while (cursor_.Kind() == SetupTokenKind::kText) {  // 'a' 'b'
    cursor_.Take();
    value = {};
  }
  return value;
}

// The elements of a list or tuple. A single one in round brackets is itself.
SetupExpressions::Value SetupExpressions::TakeElements(std::string_view end) {
  if (cursor_.Takes(end)) return SetupValue{};
  Value value = TakeExpression();
  if (end == ")" && cursor_.Takes(end)) return value;
  while (IsKnownData(value) && cursor_.Takes(",") && cursor_.Peek() != end) {
    value = TakeExpression();
  }
  return DataIf(IsKnownData(value) && cursor_.Takes(end));
}

// The entries of a dictionary. The order of a set would be that of the run.
SetupExpressions::Value SetupExpressions::TakeEntries() {
  bool has_root = false;
  int count = 0;
  while (!cursor_.Takes("}")) {
    const Value key = TakeExpression();
    if (!IsKnownData(key) || !cursor_.Takes(":")) return std::nullopt;
    if (!IsKnownData(TakeExpression())) return std::nullopt;
    has_root = has_root || (key->text && key->text->empty());
    ++count;
    if (!cursor_.Takes(",") && cursor_.Peek() != "}") return std::nullopt;
  }
  return SetupValue{has_root && count == 1 ? SetupKind::kRootMap : SetupKind::kData};
}

// [x.strip() for x in file if x]: first the clauses, which bind the names of the element.
SetupExpressions::Value SetupExpressions::TakeComprehension(size_t clauses, std::string_view end) {
  const size_t element = cursor_.Move(clauses);
  std::vector<std::string_view> targets;
  while (cursor_.Takes("for")) {
    if (!TakeForClause(targets)) return std::nullopt;
  }
  if (!cursor_.Takes(end)) return std::nullopt;
  const size_t after = cursor_.Move(element);
  if (!IsKnownData(TakeExpression()) || cursor_.at() != clauses) return std::nullopt;
  cursor_.Move(after);
  for (const std::string_view target : targets) names_.erase(target);  // Python 2 keeps its value
  return SetupValue{};
}

bool SetupExpressions::TakeForClause(std::vector<std::string_view>& targets) {
  const size_t known = targets.size();
  do {
    const auto name = cursor_.TakeName();
    if (!name) return false;
    targets.push_back(*name);
  } while (cursor_.Takes(","));
  if (!cursor_.Takes("in")) return false;
  const Value source = TakeCondition();
  if (!IsKnownData(source) && !(source && source->kind == SetupKind::kFile)) return false;
  for (size_t i = known; i < targets.size(); ++i) Bind(targets[i], {});
  while (cursor_.Takes("if")) {
    if (!IsKnownData(TakeCondition())) return false;
  }
  return true;
}

// x[0], x[1:]
SetupExpressions::Value SetupExpressions::TakeItem(const SetupValue& value) {
  if (!IsData(value)) return std::nullopt;
  while (!cursor_.Takes("]")) {
    const bool is_known = cursor_.Takes(":") || cursor_.Takes(",") || IsKnownData(TakeExpression());
    if (!is_known) return std::nullopt;
  }
  return SetupValue{};
}

SetupExpressions::Value SetupExpressions::TakeAttribute(const SetupValue& value) {
  const auto name = cursor_.TakeName();
  if (!name) return std::nullopt;
  if (value.kind == SetupKind::kModule) return MemberOf(*value.text, *name);
  if (*name == "parent") return ParentOfSetup(value);
  if (!cursor_.Takes("(")) return std::nullopt;
  const auto arguments = TakeArguments();
  return arguments ? CallSetupMethod(value, *name, *arguments, use_) : std::nullopt;
}

std::optional<SetupArguments> SetupExpressions::TakeArguments() {
  SetupArguments arguments;
  if (const auto clauses = cursor_.Find("for")) {
    const Value lines = TakeComprehension(*clauses, ")");
    if (!lines) return std::nullopt;
    arguments.listed.push_back(*lines);
    return arguments;
  }
  while (!cursor_.Takes(")")) {
    const bool is_named = cursor_.Kind() == SetupTokenKind::kName && cursor_.Peek(1) == "=";
    const std::string_view name = is_named ? cursor_.Take() : "";
    if (is_named) cursor_.Take();
    const Value value = TakeExpression();
    if (!value || !(cursor_.Takes(",") || cursor_.Peek() == ")")) return std::nullopt;
    if (!is_named) arguments.listed.push_back(*value);
    if (is_named && !arguments.named.emplace(name, *value).second) return std::nullopt;
  }
  return arguments;
}

SetupExpressions::Value SetupExpressions::TakeCall(const SetupValue& function) {
  auto arguments = TakeArguments();
  if (!arguments) return std::nullopt;
  if (function.kind == SetupKind::kOwnFunction) {
    return CallOwnFunction(function.at, std::move(*arguments));
  }
  if (function.kind != SetupKind::kFunction) return std::nullopt;
  Value result = CallSetupFunction(*function.text, *arguments, use_);
  calls_setup_ = calls_setup_ || (result && result->kind == SetupKind::kNothing);
  return result;
}

}  // namespace caip::host
