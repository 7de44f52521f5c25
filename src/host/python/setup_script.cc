#include "host/python/setup_script.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/python/setup_expressions.h"
#include "host/python/setup_tokens.h"
#include "host/python/setup_values.h"

namespace caip::host {
namespace {

// A few functions that call each other twice would take very long.
constexpr int kOwnCallsMax = 100;

/// Goes through the statements in their order, as Python does. It knows no branch and no loop, and
/// so each statement runs once. Each method takes the tokens of what it is named after. It returns
/// false for what it does not know.
class SetupReader final : public SetupExpressions {
 public:
  using SetupExpressions::SetupExpressions;

  bool IsPlain() {
    while (!cursor_.IsAtEnd()) {
      if (!TakeStatement()) return false;
    }
    return calls_setup_;
  }

 private:
  bool TakeStatement() {
    if (TakeLineEnd()) return true;
    if (cursor_.Takes("import")) return TakeImport();
    if (cursor_.Takes("from")) return TakeImportFrom();
    if (cursor_.Takes("if")) return TakeMain();
    if (cursor_.Takes("with")) return TakeWith();
    if (cursor_.IsAtMargin() && cursor_.Takes("def")) return TakeDefinition();
    return TakeAssignment();
  }

  bool TakeLineEnd() { return cursor_.Takes("\n"); }

  // "os.path"; "" if there is none.
  std::string TakeModule() {
    std::string all(cursor_.TakeName().value_or(""));
    while (cursor_.Takes(".")) all += "." + std::string(cursor_.TakeName().value_or(""));
    return all;
  }

  bool TakeImport() {
    do {
      const std::string_view top = cursor_.Peek();
      const std::string module = TakeModule();
      if (!IsSetupModule(module)) return false;
      const bool has_alias = cursor_.Takes("as");
      const auto name = has_alias ? cursor_.TakeName() : std::optional(top);
      if (!name) return false;
      Bind(*name, {SetupKind::kModule, has_alias ? module : std::string(top)});
    } while (cursor_.Takes(","));
    return TakeLineEnd();
  }

  bool TakeImportFrom() {
    const std::string module = TakeModule();
    if (!cursor_.Takes("import")) return false;
    const bool is_enclosed = cursor_.Takes("(");
    do {
      if (is_enclosed && cursor_.Peek() == ")") break;
      if (!TakeMember(module)) return false;
    } while (cursor_.Takes(","));
    return (!is_enclosed || cursor_.Takes(")")) && TakeLineEnd();
  }

  bool TakeMember(const std::string& module) {
    const auto name = cursor_.TakeName();
    if (!name) return false;
    if (module == "__future__") return true;
    const Value value = MemberOf(module, *name);
    const bool has_alias = cursor_.Takes("as");
    const auto bound = has_alias ? cursor_.TakeName() : name;
    if (!value || !bound || (has_alias && module == "setuptools")) return false;
    Bind(*bound, *value);
    return true;
  }

  // if __name__ == '__main__':
  bool TakeMain() {
    const bool is_enclosed = cursor_.Takes("(");
    const auto name = names_.find("__name__");
    if (name == names_.end() || name->second.text != "__main__") return false;
    if (!cursor_.Takes("__name__") || !cursor_.Takes("==")) return false;
    if (!cursor_.Takes("'__main__'") && !cursor_.Takes("\"__main__\"")) return false;
    return (!is_enclosed || cursor_.Takes(")")) && cursor_.Takes(":");
  }

  bool TakeWith() {
    do {
      const Value file = TakeExpression();
      if (!file || file->kind != SetupKind::kFile) return false;
      if (!cursor_.Takes("as")) continue;
      const auto name = cursor_.TakeName();
      if (!name) return false;
      Bind(*name, *file);
    } while (cursor_.Takes(","));
    return cursor_.Takes(":");
  }

  // The body counts when the function is called. A generator would return something else.
  bool TakeDefinition() {
    const auto name = cursor_.TakeName();
    if (!name || cursor_.Peek() != "(") return false;
    Bind(*name, {SetupKind::kOwnFunction, std::nullopt, cursor_.at()});
    while (!cursor_.IsAtEnd() && !cursor_.IsAtMargin()) {
      if (cursor_.Take() == "yield") return false;
    }
    return true;
  }

  // x = y = 'a', x += 'a', x['a'] = 'b', and calls
  bool TakeAssignment() {
    std::vector<std::string_view> targets;
    while (cursor_.Kind() == SetupTokenKind::kName && cursor_.Peek(1) == "=") {
      targets.push_back(cursor_.Take());
      cursor_.Take();
    }
    const bool may_be_target = targets.empty() && cursor_.Kind() == SetupTokenKind::kName;
    const std::string_view first = cursor_.Peek();
    Value value = TakeExpression();
    if (!value) return false;
    const std::string_view last = cursor_.Last().text;
    if (may_be_target && (cursor_.Takes("=") || cursor_.Takes("+="))) {
      if (last != "]" && last != first) return false;
      if (last == first) targets.push_back(first);
      value = DataIf(IsData(*value) && IsKnownData(TakeList()));
    } else {
      value = TakeMore(*value);
    }
    return value && BindAll(targets, *value) && TakeLineEnd();
  }

  bool BindAll(const std::vector<std::string_view>& targets, const SetupValue& value) {
    const bool is_bindable = IsData(value) || value.kind == SetupKind::kPath ||
                             value.kind == SetupKind::kScript || value.kind == SetupKind::kFile;
    for (const std::string_view target : targets) Bind(target, value);
    return targets.empty() || is_bindable;
  }

  Value CallOwnFunction(size_t begin, SetupArguments arguments) override {
    if (++own_calls_ > kOwnCallsMax) return std::nullopt;
    const size_t after = cursor_.Move(begin);
    Scope outer = names_;
    if (!TakeParameters(std::move(arguments))) return std::nullopt;
    Value result = SetupValue{SetupKind::kNothing};
    while (!cursor_.IsAtEnd() && !cursor_.IsAtMargin()) {
      if (cursor_.Takes("return")) {
        result = TakeList();
        if (cursor_.Kind() != SetupTokenKind::kLineEnd) return std::nullopt;
        break;
      }
      if (!TakeStatement()) return std::nullopt;
    }
    cursor_.Move(after);
    names_ = std::move(outer);
    return result;
  }

  // (file, mode: str = 'r') -> str:
  bool TakeParameters(SetupArguments arguments) {
    size_t count = 0;
    cursor_.Take();
    while (!cursor_.Takes(")")) {
      const auto name = cursor_.TakeName();
      if (!name || (cursor_.Takes(":") && !cursor_.TakeName())) return false;
      // Python computes a default value where the function is defined.
      const Value usual = cursor_.Takes("=") ? TakeConstant() : std::nullopt;
      const auto named = arguments.named.extract(*name);
      const bool is_listed = count < arguments.listed.size();
      const Value given = is_listed ? arguments.listed[count] : usual;
      if (is_listed ? !named.empty() : named.empty() && !given) return false;
      Bind(*name, named.empty() ? *given : named.mapped());
      ++count;
      if (!cursor_.Takes(",") && cursor_.Peek() != ")") return false;
    }
    if (cursor_.Takes("->") && !cursor_.TakeName()) return false;
    return cursor_.Takes(":") && arguments.named.empty() && count >= arguments.listed.size();
  }

  int own_calls_ = 0;
};

bool IsPlain(std::string_view text, SetupUse use) {
  const auto tokens = SplitSetup(text);
  return tokens && SetupReader(*tokens, use).IsPlain();
}

}  // namespace

bool IsPlainSetup(std::string_view text) { return IsPlain(text, SetupUse::kBuild); }

bool InstallsWithoutReadingSources(std::string_view text) {
  return IsPlain(text, SetupUse::kInstall);
}

}  // namespace caip::host
