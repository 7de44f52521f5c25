#pragma once
// The texts of errors about files, JSON and YAML.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip {

/// The failed action, followed by errno's text: "cannot open '/x': No such file or directory".
/// The code is kNotFound, kPermissionDenied, kResourceExhausted (disk full), kUnavailable (no free
/// descriptor) or kInternal by errno.
Error SystemError(std::string what, int error_number);

// A system call failed: the action and its object, then errno's text.

Error CannotOpen(const std::filesystem::path& file, int error_number);
Error CannotRead(const std::filesystem::path& file, int error_number);
Error CannotWrite(const std::filesystem::path& file, int error_number);
Error CannotCreate(const std::filesystem::path& file, int error_number);
Error CannotSync(const std::filesystem::path& file, int error_number);
Error CannotRename(const std::filesystem::path& file, int error_number);
Error CannotMake(const std::filesystem::path& file, int error_number);
Error CannotRemove(const std::filesystem::path& file, int error_number);
Error CannotMakeDirectory(const std::filesystem::path& file, int error_number);
Error CannotMove(const std::filesystem::path& file, int error_number);
Error CannotProtect(const std::filesystem::path& file, int error_number);
Error CannotLock(const std::filesystem::path& file, int error_number);
Error CannotLookAt(const std::filesystem::path& file, int error_number);
Error CannotStart(const std::filesystem::path& program, int error_number);
Error CannotRun(const std::filesystem::path& program, int error_number);
Error CannotMakePipe(int error_number);
Error CannotStartProcess(int error_number);

namespace errors {

/// kOutOfRange: the file has more than `limit` bytes.
Error FileTooLarge(std::string_view file, size_t limit);

// These errors are kInvalidArgument.
Error JsonTooDeep(int limit);
/// `place` is "line 1, column 2", or "" if it is not known.
Error JsonBroken(std::string_view place, std::string_view why);
Error YamlTooLarge(std::string_view file, size_t limit);

}  // namespace errors

// Shows a mistake in a file: its place, a description, the line, and a caret below it.

/// kInvalidArgument "<name>:<line>:<column>: <what>" and an excerpt. `line` and `column` count from
/// 0.
Error YamlError(std::string_view text, std::string_view name, int line, int column,
                const std::string& what);

/// Rejects text that is not UTF-8 or has control characters that YAML forbids.
Status CheckYamlCharacters(std::string_view text, std::string_view name);

}  // namespace caip
