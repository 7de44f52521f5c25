#pragma once
// matchGlob of objects.list: * ? [abc] [!a-z] ** {a,b}. Source: "List objects and prefixes using
// glob" at cloud.google.com/storage/docs/json_api/v1/objects/list.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caip::gcs {

/// A pattern for object names, matched in time linear in pattern times name. Any thread.
class Glob {
 public:
  /// The pattern must have no problem.
  explicit Glob(std::string_view pattern);
  /// Describes what is wrong with the pattern; nullopt if it is valid.
  static std::optional<std::string> Problem(std::string_view pattern);

  /// `name` is UTF-8, as the names of objects are.
  bool Matches(std::string_view name) const;
  /// The prefix of every name that matches.
  const std::string& literal_prefix() const { return literal_prefix_; }

 private:
  struct Range {
    char32_t first;
    char32_t last;
  };
  struct Step {
    enum class Kind { kPoint, kSet, kNoSlash, kRunNoSlash, kRunAny, kJump, kFork, kEnd } kind;
    std::vector<Range> set = {};  // of kSet and kPoint: the characters
    bool negated = false;         // of kSet: all characters but `set`
    std::vector<size_t> to = {};  // of kJump and kFork
  };
  void Compile(std::u32string_view pattern);
  size_t CompileSet(std::u32string_view pattern, size_t at);
  void Enter(size_t step, std::vector<bool>& states) const;
  static bool Fits(const Step& step, char32_t c);

  std::vector<Step> steps_;
  std::string literal_prefix_;
};

}  // namespace caip::gcs
