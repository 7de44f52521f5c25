#pragma once
// multipart/* bodies as real clients send them, read in constant memory: boundaries in single
// quotes that do not belong to them, lines that end in a bare LF, parts without headers.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace caip::gcs {

/// The boundaries that a Content-Type may mean: quotes may or may not belong to the boundary.
/// Empty: there is no boundary.
std::vector<std::string> BoundariesOf(std::string_view content_type);

/// Reads a body part by part. One thread. `source` must outlive it.
class MultipartReader final : public http::BodyReader {
 public:
  MultipartReader(http::BodyReader& source, std::vector<std::string> boundaries);
  /// Skips the rest of the current part. False after the last part.
  Result<bool> NextPart();
  const http::Headers& headers() const { return headers_; }
  /// The current part's bytes; 0 at its end.
  Result<size_t> Read(char* buffer, size_t size) override;
  /// The rest of the current part. An error names it as `part`.
  Result<std::string> ReadPart(size_t limit, std::string_view part = "a part");

 private:
  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }
  Result<bool> ReceiveMore();
  Result<std::string> TakeLine();
  Status FindFirstBoundary();
  Status ReadHeaders();
  /// The number of pending bytes that are certainly data. 0 at a boundary, or if more input is
  /// needed.
  Result<size_t> DataAhead();
  Status FinishPart();

  http::BodyReader& source_;
  std::vector<std::string> boundaries_;
  std::string delimiter_;     // line end, two dashes, boundary
  std::vector<char> buffer_;  // begin_ to end_: received and not yet read
  size_t begin_ = 0;
  size_t end_ = 0;
  bool source_ended_ = false;
  bool in_part_ = false;
  bool at_part_start_ = false;
  bool ended_ = false;
  http::Headers headers_;
};

}  // namespace caip::gcs
