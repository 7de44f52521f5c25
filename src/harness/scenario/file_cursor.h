#pragma once
// Walks a YAML file of a user and collects mistakes, with line, column and a caret.

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
  std::vector<std::string> mistakes;  // each with its excerpt
  bool roles_are_pools = false;       // "worker-0" is a replica of the job's second worker pool
};

/// Reads and parses a file. Duplicate keys are mistakes. Errors are those of the file or of YAML.
Result<std::shared_ptr<FileText>> OpenFileText(const Path& path);
std::shared_ptr<FileText> FileTextOf(YamlDocument document, std::string text, std::string name);

/// A value in a file. Cheap to copy.
class Cursor {
 public:
  explicit Cursor(std::shared_ptr<FileText> file);

  const Json& json() const { return *json_; }
  const FileText& file() const { return *file_; }
  /// The JSON pointer of the value: "/faults/0/kill".
  const std::string& pointer() const { return pointer_; }
  /// The place for people: "faults[0].kill".
  std::string name() const;

  /// Reports a mistake: "file.yaml:7:11: faults[0].kill: <what>", the line and a caret.
  void Wrong(const std::string& what) const;
  /// The same about the key, not about its value.
  void WrongKey(const std::string& what) const;

  bool IsMap() const { return json_->is_object(); }
  bool IsList() const { return json_->is_array(); }
  bool Has(std::string_view key) const;
  /// The member; JSON null if it is missing.
  Cursor At(std::string_view key) const;
  std::vector<std::pair<std::string, Cursor>> Members() const;
  /// The elements of a list. Any other value is its own only element.
  std::vector<Cursor> Elements() const;

  // Each of these reports a value of another kind and then returns a neutral value.
  std::string Text() const;
  std::vector<std::string> Texts() const;
  int64_t Integer(int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;
  double Number() const;
  bool Flag() const;
  Duration Time(bool may_be_negative = false) const;
  /// Reports each member whose key is not in `known`.
  void OnlyKeys(const std::vector<std::string>& known) const;
  /// Returns false for a value that is not a mapping, and reports it.
  bool MustBeMap() const;

 private:
  Cursor(std::shared_ptr<FileText> file, const Json* json, std::string pointer);

  std::shared_ptr<FileText> file_;
  const Json* json_;
  std::string pointer_;
};

}  // namespace caip::harness
