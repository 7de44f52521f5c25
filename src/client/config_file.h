#pragma once
// The file of --config, with the places of its values, for messages that name line and column.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"
#include "client/file_hints.h"
#include "client/submit_flags.h"

namespace caip::client {

/// A file that is read once.
class ConfigFile {
 public:
  /// An error if the file cannot be read or is not YAML.
  static Result<ConfigFile> Load(const std::string& path);
  /// kInvalidArgument if the text is not YAML. `name` stands for the file in messages.
  static Result<ConfigFile> Parse(std::string text, const std::string& name);

  const Json& tree() const { return document_.value; }
  const YamlDocument& document() const { return document_; }
  /// The file for the merge. Valid as long as this object exists.
  SubmitFile File() const;
  /// The text of `error` and a line for each violation, which begins with file, line and column. A
  /// field that is not a JSON pointer is a flag.
  std::string Shown(const Error& error) const;
  /// The hints with their places, each on a line; "" if there is none. Begins with a line end.
  std::string Hints(const std::vector<FileHint>& hints) const;
  /// The warnings about keys that occur twice.
  std::string DuplicateWarnings() const;

 private:
  // The place of the value, or of the nearest enclosing value that has one; 0:0 without one.
  Place PlaceOf(std::string pointer) const;
  // "file:line:column: text", the line, and a caret below it.
  std::string At(const Place& place, const std::string& text) const;

  std::string path_;
  std::string text_;
  YamlDocument document_;
};

}  // namespace caip::client
