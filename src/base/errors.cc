#include "base/errors.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/quoting.h"

namespace caip {
namespace {

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    case EEXIST:
      return Code::kAlreadyExists;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Error SystemError(std::string what, int error_number) {
  return {CodeOf(error_number), std::move(what) + ": " + std::strerror(error_number)};
}

namespace errors {

Error FileTooLarge(std::string_view file, size_t limit) {
  return {Code::kOutOfRange, Quoted(file) + " is larger than " + std::to_string(limit) + " bytes"};
}

Error JsonTooDeep(int limit) {
  return {Code::kInvalidArgument,
          "the document is nested deeper than " + std::to_string(limit) + " levels"};
}

Error JsonBroken(std::string_view place, std::string_view why) {
  const std::string start = place.empty() ? "" : std::string(place) + ": ";
  return {Code::kInvalidArgument, start + std::string(why)};
}

Error YamlTooLarge(std::string_view file, size_t limit) {
  return {Code::kInvalidArgument,
          std::string(file) + ": the file is larger than " + std::to_string(limit >> 20) + " MiB"};
}

}  // namespace errors
}  // namespace caip
