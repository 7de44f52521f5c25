#pragma once
// A YAML file as a JSON tree that knows the place of each value, so that a mistake in a case file
// is shown with file, line, column and a caret.

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/json_fwd.h"
#include "conformance/result.h"

namespace conform {

/// A place in a file. Both numbers count from 1.
struct Place {
  int line = 1;
  int column = 1;
};

/// A file that was read. Owns its values.
class Document {
 public:
  /// Reads a file. A YAML error is a problem with a caret.
  static Result<Document> Read(const std::string& file);
  /// Reads a text that came from `file`.
  static Result<Document> Parse(const std::string& file, const std::string& text);

  const Json& root() const { return root_; }
  const std::string& file() const { return file_; }
  /// The place of the value at a JSON pointer, or of the nearest value above it.
  Place PlaceOf(const std::string& pointer) const;
  /// "file:line:column: message", the line itself, and a caret below.
  Problem Complain(const std::string& pointer, const std::string& message) const;

 private:
  Problem ComplainAt(Place place, const std::string& message) const;

  std::string file_;
  std::string text_;
  Json root_;
  std::map<std::string, Place> places_;

  friend class DocumentReader;
};

/// The pointer of a member or element of what is at `pointer`.
std::string Below(const std::string& pointer, const std::string& key);
std::string Below(const std::string& pointer, size_t index);

}  // namespace conform
