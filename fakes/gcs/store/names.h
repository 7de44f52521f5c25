#pragma once
// The names that buckets and objects may have, and the paths of objects below a bucket's directory.
// https://cloud.google.com/storage/docs/buckets#naming, .../docs/objects#naming

#include <optional>
#include <string>
#include <string_view>

namespace caip::gcs {

inline constexpr size_t kObjectNameBytesMax = 1024;

/// Describes what is wrong with the name; nullopt if it is valid.
std::optional<std::string> BucketNameProblem(std::string_view name);
std::optional<std::string> ObjectNameProblem(std::string_view name);

// Converts object names to paths below a bucket's directory and back. docs/storage-names.md is the
// description for users.
//
// An ordinary name is its own path: "data/train.csv" is the file data/train.csv. Only what a
// directory cannot hold is escaped, component by component:
//
//   control characters, invalid UTF-8             %XX (upper case)
//   "." and ".."                                  %2E and %2E%2E
//   an empty component ("a//b", "a/", "/a")       %~
//   a component over 255 bytes                    cut: <piece>%~/<piece>%~/<last piece>
//   "%" before two of 0-9A-F, or before "~"       %25
//   an object beside a directory ("a", "a/b")     a%~file
//
// The rule is injective and reversible; a file whose path no name maps to is not an object. No path
// leaves its directory: it has no "..", no empty component and no leading "/".

/// The object's path, unless a directory has that path.
std::string PlainPath(std::string_view name);

/// The object's path while a directory has its plain path.
std::string BesidePath(std::string_view name);

/// The object with this plain or beside path; nullopt if there is none.
std::optional<std::string> NameOfPath(std::string_view path);

/// One component of a path, for a walk through directories.
struct PathPiece {
  enum class Kind { kComponent, kContinues, kBeside } kind;
  std::string text;  // decoded; "" for an empty component
};
PathPiece DecodePiece(std::string_view piece);

/// True if the piece is certainly its own decoded form: it has no escape, and nothing to escape.
bool IsPlainPiece(std::string_view piece);

}  // namespace caip::gcs
