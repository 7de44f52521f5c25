#include "base/errors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor_limit.h"
#include "base/quoting.h"
#include "base/text.h"

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
    case EFBIG:  // beyond a limit of file sizes (ulimit -f)
      return Code::kResourceExhausted;
    case EMFILE:
    case ENFILE:
      return Code::kUnavailable;  // passes, unlike a full disk
    case EEXIST:
      return Code::kAlreadyExists;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Error SystemError(std::string what, int error_number) {
  if (error_number == EMFILE || error_number == ENFILE) NoteDescriptorShortage();
  return {CodeOf(error_number), std::move(what) + ": " + std::strerror(error_number)};
}

Error CannotOpen(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot open " + Quoted(file.native()), error_number);
}

Error CannotRead(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot read " + Quoted(file.native()), error_number);
}

Error CannotWrite(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot write " + Quoted(file.native()), error_number);
}

Error CannotCreate(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot create " + Quoted(file.native()), error_number);
}

Error CannotSync(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot sync " + Quoted(file.native()), error_number);
}

Error CannotRename(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot rename to " + Quoted(file.native()), error_number);
}

Error CannotRemove(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot remove " + Quoted(file.native()), error_number);
}

Error CannotMake(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot make " + Quoted(file.native()), error_number);
}

Error CannotMakeDirectory(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot make directory " + Quoted(file.native()), error_number);
}

Error CannotMove(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot move " + Quoted(file.native()), error_number);
}

Error CannotProtect(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot protect " + Quoted(file.native()), error_number);
}

Error CannotLock(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot lock " + Quoted(file.native()), error_number);
}

Error CannotLookAt(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot look at " + Quoted(file.native()), error_number);
}

Error CannotStart(const std::filesystem::path& program, int error_number) {
  return SystemError("cannot start " + Quoted(program.native()), error_number);
}

Error CannotRun(const std::filesystem::path& program, int error_number) {
  return SystemError("cannot run " + Quoted(program.native()), error_number);
}

Error CannotMakePipe(int error_number) { return SystemError("cannot make a pipe", error_number); }

Error CannotStartProcess(int error_number) {
  return SystemError("cannot start a process", error_number);
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

namespace {

std::string LineAt(std::string_view text, int line) {
  for (int i = 0; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  std::string found(text.substr(0, text.find('\n')));
  if (found.ends_with('\r')) found.pop_back();
  return found;
}

// The line of a mistake, with a caret below its place. A long line is cut around the place.
std::string Excerpt(std::string_view text, int line, int column) {
  constexpr int kWidth = 76;
  std::string source = LineAt(text, line);
  for (char& c : source) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  column = std::clamp(column, 0, static_cast<int>(source.size()));
  const int begin = column > kWidth ? column - kWidth / 2 : 0;
  source = source.substr(static_cast<size_t>(begin), kWidth + 24);
  while (!source.empty() && !IsUtf8(source)) source.pop_back();
  return "\n  " + source + "\n  " + std::string(static_cast<size_t>(column - begin), ' ') + "^";
}

Error ErrorAtByte(std::string_view text, std::string_view name, size_t byte,
                  const std::string& what) {
  const std::string_view before = text.substr(0, byte);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const size_t start = before.rfind('\n') + 1;
  return YamlError(text, name, line, static_cast<int>(byte - start), what);
}

// The first byte that is outside YAML's character set, or npos.
size_t BadCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0 &&
        static_cast<unsigned char>(text[i + 1]) != 0x85) {
      return i;
    }
  }
  return std::string_view::npos;
}

size_t FirstBadUtf8(std::string_view text) {
  size_t good = 0;
  // A prefix of good text is good, unless it ends inside a character. Then the search ends on that
  // character's first byte.
  for (size_t step = text.size(); step > 0; step /= 2) {
    while (good + step <= text.size() && IsUtf8(text.substr(good, step))) good += step;
  }
  return good;
}

}  // namespace

Error YamlError(std::string_view text, std::string_view name, int line, int column,
                const std::string& what) {
  return {Code::kInvalidArgument, std::string(name) + ":" + std::to_string(line + 1) + ":" +
                                      std::to_string(column + 1) + ": " + what +
                                      Excerpt(text, line, column)};
}

Status CheckYamlCharacters(std::string_view text, std::string_view name) {
  if (!IsUtf8(text))
    return ErrorAtByte(text, name, FirstBadUtf8(text), "this byte is not valid UTF-8");
  if (const size_t bad = BadCharacter(text); bad != std::string_view::npos) {
    return ErrorAtByte(text, name, bad, "YAML allows no control characters; escape it in quotes");
  }
  return Ok{};
}

}  // namespace caip
