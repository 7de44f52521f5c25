#pragma once
// Evaluates the expressions of a setup.py, as far as that shows which files the script may read.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/python/setup_tokens.h"
#include "host/python/setup_values.h"

namespace caip::host {

/// The expressions of a script, and its names. Each method takes the tokens of what it is named
/// after. It returns nullopt for what it does not know; then the script may read anything.
class SetupExpressions {
 public:
  SetupExpressions(const std::vector<SetupToken>& tokens, SetupUse use);
  virtual ~SetupExpressions() = default;

 protected:
  using Value = std::optional<SetupValue>;
  using Scope = std::map<std::string_view, SetupValue>;

  /// An expression, or several with commas between them.
  Value TakeList();
  /// The other expressions after the first one; `first` if there are none.
  Value TakeMore(const SetupValue& first);
  Value TakeExpression();
  /// True, None, a number or a text.
  Value TakeConstant();

  /// Gives a name to a value.
  void Bind(std::string_view name, SetupValue value);
  static Value MemberOf(const std::string& module, std::string_view name);
  static bool IsKnownData(const Value& value) { return value && IsData(*value); }

  /// Calls a function of the script, whose parameters begin at the token `begin`.
  virtual Value CallOwnFunction(size_t begin, SetupArguments arguments) = 0;

  SetupCursor cursor_;
  Scope names_;
  bool calls_setup_ = false;

 private:
  // An expression without `if`, which has another meaning in a list comprehension.
  Value TakeCondition();
  bool TakeSigns();
  bool TakeOperator();
  Value TakeOperand();
  Value TakeAtom();
  SetupValue TakeText();
  Value TakeElements(std::string_view end);
  Value TakeEntries();
  Value TakeComprehension(size_t clauses, std::string_view end);
  bool TakeForClause(std::vector<std::string_view>& targets);
  Value TakeItem(const SetupValue& value);
  Value TakeAttribute(const SetupValue& value);
  std::optional<SetupArguments> TakeArguments();
  Value TakeCall(const SetupValue& function);

  const SetupUse use_;
  int nesting_ = 0;
  int operands_ = 0;
};

}  // namespace caip::host
