#include "fakes/gcs/wire/multipart.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kReceiveBytes = 256 << 10;
constexpr size_t kLineBytesMax = 64 << 10;

// True if `after` may follow a boundary on its line: the line's end, blanks, or the two dashes of
// the last boundary.
bool EndsBoundary(std::string_view after) {
  return after.empty() || after.starts_with("--") ||
         std::string_view("\r\n \t").find(after.front()) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> BoundariesOf(std::string_view content_type) {
  const size_t at = LowerCase(content_type).find("boundary=");
  if (at == std::string::npos) return {};
  std::string_view value = content_type.substr(at + 9);
  if (value.starts_with('"')) {
    value = value.substr(1, value.find('"', 1) - 1);
  } else {
    value = Trim(value.substr(0, value.find(';')));
  }
  if (value.empty()) return {};
  std::vector<std::string> boundaries = {std::string(value)};
  if (value.size() > 2 && value.front() == '\'' && value.back() == '\'') {
    boundaries.emplace_back(value.substr(1, value.size() - 2));
  }
  return boundaries;
}

MultipartReader::MultipartReader(http::BodyReader& source, std::vector<std::string> boundaries)
    : source_(source), boundaries_(std::move(boundaries)) {}

Result<bool> MultipartReader::ReceiveMore() {
  if (source_ended_) return false;
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0 && buffer_.size() - end_ < kReceiveBytes / 2) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= std::exchange(begin_, 0);
  }
  if (buffer_.size() - end_ < kReceiveBytes / 2) buffer_.resize(buffer_.size() + kReceiveBytes);
  ASSIGN_OR_RETURN(const size_t count, source_.Read(buffer_.data() + end_, buffer_.size() - end_));
  end_ += count;
  source_ended_ = count == 0;
  return !source_ended_;
}

// Takes a line with its line end.
Result<std::string> MultipartReader::TakeLine() {
  while (true) {
    const size_t end = pending().find('\n');
    if (end != std::string_view::npos) {
      std::string line(pending().substr(0, end + 1));
      begin_ += end + 1;
      return line;
    }
    if (pending().size() > kLineBytesMax) return errors::MultipartInvalid("a line is too long");
    ASSIGN_OR_RETURN(const bool more, ReceiveMore());
    if (!more) return errors::MultipartInvalid("it ends before the last boundary");
  }
}

// The line of the first boundary shows how this client ends lines, and which boundary it uses.
Status MultipartReader::FindFirstBoundary() {
  for (size_t skipped = 0; skipped <= kLineBytesMax;) {
    ASSIGN_OR_RETURN(const std::string line, TakeLine());
    skipped += line.size();
    const std::string_view text = Trim(line);
    for (const std::string& boundary : boundaries_) {
      if (text == "--" + boundary + "--") return errors::MultipartInvalid("it has no parts");
      if (text != "--" + boundary) continue;
      delimiter_ = (line.ends_with("\r\n") ? "\r\n--" : "\n--") + boundary;
      return Ok{};
    }
  }
  return errors::MultipartInvalid("the boundary of the Content-Type does not occur");
}

Status MultipartReader::ReadHeaders() {
  headers_ = {};
  for (size_t bytes = 0; bytes <= kLineBytesMax;) {
    ASSIGN_OR_RETURN(const std::string line, TakeLine());
    bytes += line.size();
    const std::string_view text = Trim(line);
    if (text.empty()) return Ok{};
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return errors::MultipartInvalid("a header has no colon");
    headers_.Add(std::string(text.substr(0, colon)), std::string(Trim(text.substr(colon + 1))));
  }
  return errors::MultipartInvalid("a part's headers are too long");
}

Result<bool> MultipartReader::NextPart() {
  if (ended_) return false;
  if (delimiter_.empty()) {
    RETURN_IF_ERROR(FindFirstBoundary());
  } else {
    char scratch[4096];
    while (in_part_) {
      ASSIGN_OR_RETURN([[maybe_unused]] const size_t count, Read(scratch, sizeof scratch));
    }
    if (ended_) return false;
  }
  RETURN_IF_ERROR(ReadHeaders());
  in_part_ = at_part_start_ = true;
  return true;
}

Result<size_t> MultipartReader::DataAhead() {
  const std::string_view bytes = pending();
  const std::string_view dashes = std::string_view(delimiter_).substr(delimiter_.find('-'));
  // An empty part may lack its line end: the headers' blank line is followed by the boundary.
  if (at_part_start_ && bytes.starts_with(dashes) && bytes.size() >= dashes.size() + 2 &&
      EndsBoundary(bytes.substr(dashes.size()))) {
    begin_ += dashes.size();
    RETURN_IF_ERROR(FinishPart());
    return size_t{0};
  }
  const size_t at = bytes.find(delimiter_);
  if (at == std::string_view::npos) {  // the start of a boundary may have arrived
    const size_t tail = delimiter_.size() + 2;
    return bytes.size() > tail ? bytes.size() - tail : 0;
  }
  if (at > 0) return at;
  const std::string_view after = bytes.substr(delimiter_.size());
  if (after.size() < 2 && !source_ended_) return size_t{0};
  if (!EndsBoundary(after)) return size_t{1};  // not a boundary
  begin_ += delimiter_.size();
  RETURN_IF_ERROR(FinishPart());
  return size_t{0};
}

// After the boundary: two dashes end the body, else the next part's headers follow on a new line.
Status MultipartReader::FinishPart() {
  in_part_ = false;
  ended_ = pending().starts_with("--");
  if (!ended_) RETURN_IF_ERROR(TakeLine());
  return Ok{};
}

Result<size_t> MultipartReader::Read(char* buffer, size_t size) {
  while (in_part_) {
    ASSIGN_OR_RETURN(const size_t ahead, DataAhead());
    if (!in_part_) break;
    if (ahead > 0) {
      const size_t count = std::min(size, ahead);
      std::copy_n(pending().data(), count, buffer);
      begin_ += count;
      at_part_start_ = false;
      return count;
    }
    ASSIGN_OR_RETURN(const bool more, ReceiveMore());
    if (!more && pending().size() < delimiter_.size()) {
      return errors::MultipartInvalid("it ends before the last boundary");
    }
    if (!more && pending().find(delimiter_) == std::string_view::npos) {
      return errors::MultipartInvalid("it ends before the last boundary");
    }
  }
  return size_t{0};
}

Result<std::string> MultipartReader::ReadPart(size_t limit, std::string_view part) {
  std::string bytes;
  char buffer[16384];
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, Read(buffer, sizeof buffer));
    if (count == 0) return bytes;
    bytes.append(buffer, count);
    if (bytes.size() > limit) {
      return errors::MultipartInvalid(std::string(part) + " is too large");
    }
  }
}

}  // namespace caip::gcs
