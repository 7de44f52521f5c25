#pragma once
// A config file as gcloud's generated client reads and writes it again: what it refuses, what it
// turns into something else, and what it passes on although it does not know it.

#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace caip::client {

/// A file that went through the client.
struct TypedFile {
  Json job;                            // what is left of it; unknown names are kept
  std::vector<FieldViolation> faults;  // where the client crashes; all of them
  std::vector<FieldViolation> traps;   // what it passes on or rewrites without a word
};

/// `file` is the tree of the file; a Job, or anything.
TypedFile TypeFile(const Json& file);

/// The value names of an enum field, numbered from 0: "trainingInput.scaleTier". It must exist.
std::span<const std::string_view> EnumNames(std::string_view path);

/// True where `value` is what the client knows for the enum field `path`
/// ("trainingInput.scaleTier").
bool IsKnownEnum(std::string_view path, const Json& value);

}  // namespace caip::client
