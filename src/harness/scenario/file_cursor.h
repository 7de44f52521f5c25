#pragma once
// Walks a YAML file that a person wrote; what is wrong is gathered, with line, column and a caret.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "base/yaml.h"

namespace caip::harness {

/// A file and the mistakes found in it so far. Shared by its cursors.
struct FileText {
  std::string name;
  std::string text;
  YamlDocument document;
  std::vector<std::string> mistakes;  // each whole, with its excerpt
};

/// Reads and parses; duplicate keys are mistakes. Errors: the file's, or those of YAML.
Result<std::shared_ptr<FileText>> OpenFileText(const Path& path);
std::shared_ptr<FileText> FileTextOf(YamlDocument document, std::string text, std::string name);

/// A value in a file. Cheap to copy.
class Cursor {
 public:
  explicit Cursor(std::shared_ptr<FileText> file);

  const Json& json() const { return *json_; }
  /// "/faults/0/kill": as JSON pointers are written.
  const std::string& pointer() const { return pointer_; }
  /// What a person calls it: "faults[0].kill".
  std::string name() const;

  /// "file.yaml:7:11: faults[0].kill: <what>", the line and a caret.
  void Wrong(const std::string& what) const;

  bool IsMap() const { return json_->is_object(); }
  bool IsList() const { return json_->is_array(); }
  bool Has(std::string_view key) const;
  /// The member; the cursor's own place with JSON null where it is missing.
  Cursor At(std::string_view key) const;
  std::vector<std::pair<std::string, Cursor>> Members() const;
  std::vector<Cursor> Elements() const;  // of a list; of anything else: itself alone

  // Each says what is wrong and answers a neutral value when it is not of the kind.
  std::string Text() const;
  int64_t Integer(int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;
  double Number() const;
  bool Flag() const;
  Duration Time(bool may_be_negative = false) const;
  /// Wrong() for each member whose key is none of these.
  void OnlyKeys(const std::vector<std::string>& known) const;
  /// Wrong() and false when it is none.
  bool MustBeMap() const;

 private:
  Cursor(std::shared_ptr<FileText> file, const Json* json, std::string pointer);

  std::shared_ptr<FileText> file_;
  const Json* json_;
  std::string pointer_;
};

/// The nearest of `known` to a misspelt word, as "; did you mean 'x'?", else "".
std::string Suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace caip::harness
