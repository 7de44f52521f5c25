#pragma once
// The local ends of copies: files and standard streams.

#include <functional>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::cli {

/// Reads an open file from its beginning.
class FileBody final : public http::BodyReader {
 public:
  /// kNotFound, or an error of the system.
  static Result<FileBody> Open(const Path& path);
  /// The standard input. It is copied to a temporary file first, because its size must be known.
  static Result<FileBody> OfStandardInput();

  Result<size_t> Read(char* buffer, size_t size) override;
  uint64_t size() const { return size_; }

 private:
  FileBody(Path path, Fd file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Path path_;
  Fd file_;
  uint64_t size_;
};

/// Writes a file with the bytes that `fill` gives, beside its place first, so that a copy that
/// breaks off leaves the old file. Makes missing directories.
Status FillFile(const Path& path,
                const std::function<Status(const std::function<bool(std::string_view)>&)>& fill);

}  // namespace caip::cli
