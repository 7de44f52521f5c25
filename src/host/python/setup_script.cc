#include "host/python/setup_script.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace caip::host {
namespace {

enum class TokenKind { kName, kText, kNumber, kSign };

struct Token {
  TokenKind kind;
  std::string_view text;
};

using Names = std::set<std::string_view>;

bool Has(const Names& names, std::string_view name) { return names.count(name) > 0; }

const Names& Modules() {
  static const Names kNames = {"setuptools", "distutils"};
  return kNames;
}

const Names& Functions() {
  static const Names kNames = {"setup", "find_packages", "find_namespace_packages"};
  return kNames;
}

const Names& Words() {
  static const Names kNames = {"from", "import", "if", "True", "False", "None", "__name__"};
  return kNames;
}

// Those with which setuptools neither reads nor runs more than the files that it packs.
const Names& Arguments() {
  static const Names kNames = {"author",
                               "author_email",
                               "classifiers",
                               "description",
                               "download_url",
                               "exclude",
                               "extras_require",
                               "include",
                               "include_package_data",
                               "install_requires",
                               "keywords",
                               "license",
                               "long_description",
                               "long_description_content_type",
                               "maintainer",
                               "maintainer_email",
                               "name",
                               "package_data",
                               "packages",
                               "platforms",
                               "project_urls",
                               "py_modules",
                               "python_requires",
                               "url",
                               "version",
                               "zip_safe"};
  return kNames;
}

// Those that say what is installed where.
const Names& InstallArguments() {
  static const Names kNames = {"data_files",   "encoding",      "entry_points",       "headers",
                               "license_file", "license_files", "namespace_packages", "package_dir",
                               "scripts",      "test_suite",    "tests_require",      "where"};
  return kNames;
}

// Methods of a file that was opened, and of its text.
const Names& TextMethods() {
  static const Names kNames = {"close", "read", "readlines", "splitlines", "split", "strip"};
  return kNames;
}

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

/// Splits a text of the simple part of Python into tokens. Line ends are none: they only matter
/// where a statement that is allowed could go on, and then it means the same.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  /// nullopt: something that it does not know.
  std::optional<std::vector<Token>> All() {
    std::vector<Token> tokens;
    for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) {
      const auto token = Next();
      if (!token) return std::nullopt;
      tokens.push_back(*token);
    }
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (Peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(Peek()))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::optional<Token> Next() {
    const size_t start = at_;
    if (Peek() == '\'' || Peek() == '"') return Text(start);
    if (IsNameStart(Peek())) {
      while (IsNamePart(Peek())) ++at_;
      const std::string_view name = text_.substr(start, at_ - start);
      if (Peek() != '\'' && Peek() != '"') return Token{TokenKind::kName, name};
      if (name != "r" && name != "u" && name != "b") return std::nullopt;  // such as f"..."
      return Text(start);
    }
    if (std::isdigit(static_cast<unsigned char>(Peek()))) {
      while (std::isdigit(static_cast<unsigned char>(Peek())) || Peek() == '.') ++at_;
      return Token{TokenKind::kNumber, text_.substr(start, at_ - start)};
    }
    constexpr std::string_view kSigns = "()[]{},:=+.";
    if (kSigns.find(Peek()) == std::string_view::npos) return std::nullopt;
    at_ += Peek() == '=' && Peek(1) == '=' ? 2 : 1;
    return Token{TokenKind::kSign, text_.substr(start, at_ - start)};
  }

  std::optional<Token> Text(size_t start) {
    const bool is_long = Peek(1) == Peek() && Peek(2) == Peek();
    const std::string_view end = text_.substr(at_, is_long ? 3 : 1);
    for (at_ += end.size(); at_ < text_.size(); ++at_) {
      if (Peek() == '\n' && !is_long) return std::nullopt;
      if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        return Token{TokenKind::kText, text_.substr(start, at_ - start)};
      }
      if (Peek() == '\\') ++at_;
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

enum class SetupUse { kBuild, kInstall };

/// Goes through the tokens once.
class SetupReader {
 public:
  SetupReader(const std::vector<Token>& tokens, SetupUse use)
      : tokens_(tokens), installs_(use == SetupUse::kInstall) {}

  bool IsPlain() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == TokenKind::kName ? !TakesName(token.text) : !TakesOther(token)) {
        return false;
      }
    }
    return calls_setup_ && depth_ == 0;
  }

 private:
  std::string_view Near(int distance) const {
    const size_t at = at_ + static_cast<size_t>(distance);  // wraps around before the first one
    return at < tokens_.size() ? tokens_[at].text : std::string_view();
  }

  bool TakesOther(const Token& token) {
    if (token.kind != TokenKind::kSign) return true;
    const char sign = token.text[0];
    if (sign == '(' || sign == '[' || sign == '{') ++depth_;
    if (sign == ')' || sign == ']' || sign == '}') --depth_;
    if (sign == '(' && at_ > 0 && (Near(-1) == ")" || Near(-1) == "]")) return false;  // a call
    return sign != '.' || Has(Modules(), Near(-1)) || (installs_ && Has(TextMethods(), Near(1)));
  }

  bool TakesName(std::string_view name) {
    if (installs_ && Near(-1) == "." && Has(TextMethods(), name)) return Near(1) == "(";
    if (Near(-1) == ".") {
      if (name != "core" && !Has(Functions(), name)) return false;
    } else if (Near(1) == "=") {
      return TakesValue(name);
    } else if (installs_ && name == "open") {
      return OpensOtherThanSource();
    } else if (installs_ && Near(-1) == "as" && depth_ == 0) {
      return Gives(name);
    }
    if (Near(1) == "(") {
      calls_setup_ = calls_setup_ || name == "setup";
      return Has(Functions(), name);
    }
    if (installs_ && (name == "with" || name == "as")) return true;
    return name == "core" || Has(Words(), name) || Has(Modules(), name) || Has(Functions(), name) ||
           Has(given_, name);
  }

  // The name of a parameter, or of a constant.
  bool TakesValue(std::string_view name) {
    if (depth_ == 0) return Gives(name);
    if (Has(Arguments(), name)) return true;
    if (!installs_ || !Has(InstallArguments(), name)) return false;
    return name != "package_dir" || NamesOneDirectory();
  }

  bool Gives(std::string_view name) {
    if (Has(Words(), name) || Has(Modules(), name) || Has(Functions(), name)) return false;
    if (name == "open" || name == "with" || name == "as") return false;
    given_.insert(name);
    return true;
  }

  // open('README.md'), with nothing that makes another name of it.
  bool OpensOtherThanSource() const {
    const std::string_view file = Near(2);
    const std::string_view next = Near(3);
    if (Near(1) != "(" || (next != ")" && next != ",")) return false;
    if (tokens_[at_ + 2].kind != TokenKind::kText) return false;
    return file.find(".py") == std::string_view::npos && file.find('\\') == std::string_view::npos;
  }

  // package_dir={'': 'src'}: no directory becomes two packages.
  bool NamesOneDirectory() const {
    const std::string_view root = Near(3);
    return Near(2) == "{" && (root == "''" || root == "\"\"") && Near(4) == ":" &&
           (Near(6) == "}" || (Near(6) == "," && Near(7) == "}"));
  }

  const std::vector<Token>& tokens_;
  const bool installs_;
  size_t at_ = 0;
  int depth_ = 0;
  bool calls_setup_ = false;
  Names given_;
};

bool IsPlain(std::string_view text, SetupUse use) {
  const auto tokens = Tokenizer(text).All();
  return tokens && SetupReader(*tokens, use).IsPlain();
}

}  // namespace

bool IsPlainSetup(std::string_view text) { return IsPlain(text, SetupUse::kBuild); }

bool InstallsWithoutReadingSources(std::string_view text) {
  return IsPlain(text, SetupUse::kInstall);
}

}  // namespace caip::host
