#pragma once
// A YAML file as a JSON tree that still knows where each of its values was written, so that every
// mistake in a case file is told with file, line, column and a caret.

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/result.h"

namespace conform {

using Json = nlohmann::json;

/// Where in a file something is; both count from 1.
struct Place {
  int line = 1;
  int column = 1;
};

/// A file that was read. Values have no owner but this.
class Document {
 public:
  /// Reads a file; a mistake of YAML's is a problem with a caret.
  static Result<Document> Read(const std::string& file);
  /// Reads a text that came from `file`.
  static Result<Document> Parse(const std::string& file, const std::string& text);

  const Json& root() const { return root_; }
  const std::string& file() const { return file_; }
  /// Where the value at a JSON pointer was written; the nearest value above it if there is none.
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
