#include "emulator/cli/print/format_expression.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_texts.h"

namespace caip::cli {
namespace {

constexpr std::string_view kReserved = ":=!<>~()[].{},+*/%&|^#;?";  // end a name without quotes
constexpr std::string_view kBlanks = " \t\r\n";

// The attributes of each format. `private` keeps output out of gcloud's log file, which caip lacks,
// and `no-undefined` hides nulls, which never occur: both have no effect.
const std::map<std::string, std::vector<std::string>>& AttributesOf() {
  static const std::map<std::string, std::vector<std::string>> kAttributes = {
      {"csv", {"delimiter", "no-heading", "no-quote", "separator", "terminator"}},
      {"default", {"no-undefined"}},
      {"disable", {}},
      {"flattened", {"no-pad", "separator"}},
      {"get", {"delimiter", "quote", "separator", "terminator"}},
      {"json", {"no-undefined"}},
      {"list", {"compact", "title"}},
      {"none", {}},
      {"table", {"box", "no-heading", "pad", "title"}},
      {"text", {"no-pad", "separator"}},
      {"value", {"delimiter", "quote", "separator", "terminator"}},
      {"yaml", {"no-undefined"}},
  };
  return kAttributes;
}

bool TakesValue(const std::string& attribute) {
  static const std::vector<std::string> kWithValue = {"delimiter", "pad", "separator", "terminator",
                                                      "title"};
  return std::find(kWithValue.begin(), kWithValue.end(), attribute) != kWithValue.end();
}

std::optional<int64_t> IntegerOf(const std::string& text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses the text in one pass.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<FormatExpression> Parse() {
    ASSIGN_OR_RETURN(format_.name, Token(":(["));
    if (!AttributesOf().contains(format_.name)) {
      return errors::UnknownFormat(format_.name);
    }
    bool has_keys = false;
    while (!AtEnd()) {
      if (Take('[')) {
        RETURN_IF_ERROR(ReadAttributes());
      } else if (!has_keys && Take('(')) {
        has_keys = true;
        RETURN_IF_ERROR(ReadKeys());
      } else {
        return Broken(format_texts::kPartExpected);
      }
    }
    const bool columns = format_.name == "csv" || format_.name == "value" || format_.name == "get";
    if (columns && format_.keys.empty()) return errors::FormatNeedsKeys(format_.name);
    return std::move(format_);
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != kBlanks.npos) ++at_;
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  bool Sees(char c) { return !AtEnd() && text_[at_] == c; }
  bool Take(char c) {
    const bool seen = Sees(c);
    at_ += seen;
    return seen;
  }
  // Marks the position as gcloud does.
  Error Broken(std::string_view what) const {
    return errors::FormatBroken(
        what, std::string(text_.substr(0, at_)) + " *HERE* " + std::string(text_.substr(at_)));
  }

  // Reads up to a blank or one of `ends`. Quoted parts may contain these, too. A backslash escapes
  // a quote or a backslash.
  Result<std::string> Token(std::string_view ends) {
    SkipBlanks();
    std::string token;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (c == '\\' && (next == '\\' || next == '"' || next == '\'')) {
        token += text_[++at_];
      } else if (quote ? c == quote : c == '"' || c == '\'') {
        quote = quote ? 0 : c;
        quoted_ = true;
      } else if (!quote && (kBlanks.find(c) != kBlanks.npos || ends.find(c) != ends.npos)) {
        break;
      } else {
        token += c;
      }
    }
    if (quote) return Broken(format_texts::kQuoteOpen);
    return token;
  }

  Status ReadAttributes() {
    const std::vector<std::string>& known = AttributesOf().at(format_.name);
    do {
      ASSIGN_OR_RETURN(const std::string name, Token("=,])"));
      const bool everywhere = name == "private" || name == "no-transforms";
      if (!everywhere && std::find(known.begin(), known.end(), name) == known.end()) {
        return errors::FormatAttributeUnknown(format_.name, name, known);
      }
      std::string value;
      if (TakesValue(name) != Take('=')) {
        return Broken(TakesValue(name) ? format_texts::kValueExpected
                                       : format_texts::kNoValueExpected);
      }
      if (TakesValue(name)) {
        ASSIGN_OR_RETURN(value, Token(",])"));
      }
      if (name == "pad" && IntegerOf(value).value_or(-1) < 0)
        return Broken(format_texts::kNumberExpected);
      format_.attributes[name] = ReplaceAll(ReplaceAll(value, "\\n", "\n"), "\\t", "\t");
    } while (Take(','));
    return Take(']') ? Status(Ok{}) : Broken(format_texts::kAttributesOpen);
  }

  Status ReadKeys() {
    if (Take(')')) return Ok{};
    do {
      FormatKey key;
      RETURN_IF_ERROR(ReadPath(key));
      while (Take(':')) RETURN_IF_ERROR(ReadKeyAttribute(key));
      format_.keys.push_back(std::move(key));
    } while (Take(','));
    return Take(')') ? Status(Ok{}) : Broken(format_texts::kProjectionOpen);
  }

  // Reads a path: trainingInput.hyperparameters.params[].maxValue, "with quotes".too,
  // createTime.date('%Y')
  Status ReadPath(FormatKey& key) {
    bool mapped = false;
    do {
      quoted_ = false;
      ASSIGN_OR_RETURN(const std::string name, Token(kReserved));
      if (Sees('(') && !name.empty()) {
        RETURN_IF_ERROR(ReadTransform(name, key, mapped));
        continue;
      }
      if (!key.transforms.empty() || mapped) return Broken(format_texts::kTransformExpected);
      if (!name.empty() || quoted_) {
        key.path.push_back({name, std::nullopt, false});
      } else if (!Sees('[')) {
        // A single dot means the whole resource.
        if (key.path.empty() && Take('.') && (Sees(')') || Sees(',') || Sees(':'))) return Ok{};
        return Broken(format_texts::kKeyExpected);
      }
      while (Take('[')) RETURN_IF_ERROR(ReadIndex(key));
    } while (Take('.'));
    return mapped ? Status(Broken(format_texts::kTransformAfterMap)) : Status(Ok{});
  }

  Status ReadIndex(FormatKey& key) {
    ASSIGN_OR_RETURN(const std::string text, Token("]"));
    KeyStep step{"", IntegerOf(text), text.empty()};
    if (!step.index && !step.each) step.name = text;  // labels['team']
    key.path.push_back(std::move(step));
    return Take(']') ? Status(Ok{}) : Broken(format_texts::kIndexOpen);
  }

  Status ReadTransform(const std::string& name, FormatKey& key, bool& mapped) {
    Take('(');
    TransformArguments arguments;
    if (!Sees(')')) {
      do {
        RETURN_IF_ERROR(ReadArgument(arguments));
      } while (Take(','));
    }
    if (!Take(')')) return Broken(format_texts::kArgumentsOpen);
    if (name == "map") {
      const bool once = arguments.positional.empty() || arguments.positional.front() == "1";
      if (!once || !arguments.named.empty()) return errors::TransformTakes("map", {});
      mapped = true;
      return Ok{};
    }
    ASSIGN_OR_RETURN(Transform transform, MakeTransform(name, arguments));
    transform.mapped = std::exchange(mapped, false);
    key.transforms.push_back(std::move(transform));
    return Ok{};
  }

  Status ReadArgument(TransformArguments& arguments) {
    SkipBlanks();
    const size_t start = at_;
    const size_t name_end = std::min(text_.find_first_of("=,)'\"", at_), text_.size());
    const std::string name(Trim(text_.substr(start, name_end - start)));
    if (name_end < text_.size() && text_[name_end] == '=' && !name.empty()) {
      at_ = name_end + 1;
      ASSIGN_OR_RETURN(arguments.named[name], Token(",)"));
      return Ok{};
    }
    ASSIGN_OR_RETURN(std::string value, Token(",)"));
    if (at_ == start) return Broken(format_texts::kArgumentExpected);
    arguments.positional.push_back(std::move(value));
    return Ok{};
  }

  // Reads an attribute of a key: label=STATUS, sort=1, reverse, optional, align=right
  Status ReadKeyAttribute(FormatKey& key) {
    ASSIGN_OR_RETURN(const std::string name, Token("=:,)"));
    const bool has_value = Take('=');
    std::string value;
    if (has_value) {
      ASSIGN_OR_RETURN(value, Token(":,)"));
    }
    const bool table = format_.name == "table";
    if (name == "label" && has_value) {
      key.label = value;
    } else if (table && name == "align" &&
               (value == "left" || value == "center" || value == "right")) {
      key.align = value;
    } else if (table && name == "sort" && IntegerOf(value)) {
      key.sort = IntegerOf(value);
    } else if (table && name == "reverse" && !has_value) {
      key.reverse = true;
    } else if (table && name == "optional" && !has_value) {
      key.optional = true;
    } else {
      return errors::KeyAttributeUnknown(name + (has_value ? "=" + value : ""), table);
    }
    return Ok{};
  }

  std::string_view text_;
  size_t at_ = 0;
  bool quoted_ = false;
  FormatExpression format_;
};

}  // namespace

std::string FormatExpression::Attribute(const std::string& attribute,
                                        const std::string& otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second;
}

const std::vector<std::string>& FormatNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, attributes] : AttributesOf()) names.push_back(name);
    return names;
  }();
  return kNames;
}

Result<FormatExpression> ParseFormat(std::string_view text) { return Parser(text).Parse(); }

std::string PathText(const std::vector<KeyStep>& path) {
  std::string text;
  for (const KeyStep& step : path) {
    if (step.index) {
      text += "[" + std::to_string(*step.index) + "]";
    } else if (step.each) {
      text += "[]";
    } else {
      text += (text.empty() ? "" : ".") + step.name;
    }
  }
  return text;
}

}  // namespace caip::cli
