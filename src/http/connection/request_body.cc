// Reads chunks without Beast, so that data goes from the socket to the handler without a copy.

#include "http/connection/request_body.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "http/errors.h"
#include "http/message.h"

namespace caip::http {
namespace {

constexpr size_t kLineBytesMax = 16 << 10;
constexpr int kTrailersMax = 100;
constexpr size_t kLineInputBytes = 16 << 10;
constexpr size_t kDrainBytes = 64 << 10;
// A refused upload is read up to this size, because some clients read the response only after they
// have sent everything.
constexpr uint64_t kDrainBytesMax = 64 << 20;

}  // namespace

RequestBody::RequestBody(Socket& socket, Input& input, const BodyForm& form, Activity& activity,
                         int silence_seconds)
    : socket_(socket),
      input_(input),
      activity_(activity),
      silence_seconds_(silence_seconds),
      chunked_(form.chunked),
      left_(form.chunked ? 0 : form.length),
      continue_wanted_(form.expects_continue && (form.chunked || form.length > 0)) {}

Result<size_t> RequestBody::Read(char* buffer, size_t size) {
  if (failed_) return errors::BodyTruncated();
  if (IsAtEnd() || size == 0) return size_t{0};
  if (!std::exchange(begun_, true)) activity_.Enter(Activity::State::kReading);
  if (std::exchange(continue_wanted_, false) &&
      socket_.Send("HTTP/1.1 100 Continue\r\n\r\n") != Flow::kData) {
    return Fail(Flow::kBroken);
  }
  if (chunked_ && left_ == 0) RETURN_IF_ERROR(BeginChunk());
  const auto count = left_ > 0 ? ReadSome(buffer, size) : Result<size_t>(size_t{0});
  if (count.ok()) activity_.CountBodyBytes(*count);
  if (IsAtEnd() || failed_) activity_.Enter(Activity::State::kWorking);
  return count;
}

bool RequestBody::IsWorthDraining() const {
  return !failed_ && !continue_wanted_ && (chunked_ || left_ <= kDrainBytesMax);
}

bool RequestBody::Drain() {
  if (IsAtEnd()) return true;
  std::vector<char> scratch(kDrainBytes);
  for (uint64_t skipped = 0; skipped <= kDrainBytesMax;) {
    const auto count = Read(scratch.data(), scratch.size());
    if (!count.ok()) return false;
    if (*count == 0) return true;
    skipped += *count;
  }
  return false;
}

// Reads from the body or the chunk: received bytes first, then directly from the socket.
Result<size_t> RequestBody::ReadSome(char* buffer, size_t size) {
  size = static_cast<size_t>(std::min<uint64_t>(size, left_));
  if (input_.size() > 0) {
    size = std::min(size, input_.size());
    std::copy_n(input_.view().data(), size, buffer);
    input_.Consume(size);
  } else {
    const Received received = socket_.Receive(buffer, size);
    if (received.flow != Flow::kData) return Fail(received.flow);
    size = received.count;
  }
  left_ -= size;
  between_chunks_ = chunked_ && left_ == 0;
  return size;
}

// Reads "1a;name=value": the chunk's size in hexadecimal digits. Ignores extensions.
Status RequestBody::BeginChunk() {
  if (std::exchange(between_chunks_, false)) {
    ASSIGN_OR_RETURN(const std::string end, ReadLine());
    if (!end.empty()) return Malformed("a chunk is longer than its stated size");
  }
  ASSIGN_OR_RETURN(const std::string line, ReadLine());
  const char* const begin = line.data();
  const auto [end, code] = std::from_chars(begin, begin + line.size(), left_, 16);
  const std::string_view rest(end, static_cast<size_t>(begin + line.size() - end));
  const bool extended = rest.empty() || rest[0] == ';' || rest[0] == ' ' || rest[0] == '\t';
  if (code != std::errc() || !extended) {
    left_ = 0;
    return Malformed("a chunk's size is not a hexadecimal number");
  }
  return left_ > 0 ? Ok{} : SkipTrailers();
}

Status RequestBody::SkipTrailers() {
  for (int i = 0; i <= kTrailersMax; ++i) {
    ASSIGN_OR_RETURN(const std::string line, ReadLine());
    if (!line.empty()) continue;
    last_chunk_seen_ = true;
    return Ok{};
  }
  return Malformed("it has too many trailers");
}

// Returns the line without its end.
Result<std::string> RequestBody::ReadLine() {
  while (true) {
    const std::string_view bytes = input_.view();
    const size_t end = bytes.find('\n');
    if (std::min(end, bytes.size()) > kLineBytesMax)
      return Malformed("a chunk's header is too long");
    if (end != std::string_view::npos) {
      if (end == 0 || bytes[end - 1] != '\r') return Malformed("a line does not end with CRLF");
      std::string line(bytes.substr(0, end - 1));
      input_.Consume(end + 1);
      return line;
    }
    const Flow flow = input_.ReceiveMore(socket_, kLineInputBytes);
    if (flow != Flow::kData) return Fail(flow);
  }
}

Error RequestBody::Fail(Flow flow) {
  failed_ = true;
  if (flow == Flow::kSilent) return errors::PeerSilent(silence_seconds_);
  return flow == Flow::kEnd ? errors::BodyTruncated() : errors::PeerGone();
}

Error RequestBody::Malformed(std::string_view why) {
  failed_ = true;
  return errors::BodyMalformed(why);
}

namespace {

constexpr std::string_view kCoding = "transfer-encoding:";
constexpr std::string_view kLength = "content-length:";

// Returns the field's value in lower case; nullopt if the line has another field.
std::optional<std::string> ReadFieldValue(std::string_view line, std::string_view field) {
  if (!IsSameFieldName(line.substr(0, field.size()), field)) return std::nullopt;
  return LowerCase(Trim(line.substr(field.size())));
}

void HideFieldName(std::span<char> bytes, size_t at) { bytes[at] = bytes[at + 1] = 'x'; }

}  // namespace

bool ResolveFraming(std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  const size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return false;
  bool chunked = false;
  int codings = 0;
  std::optional<size_t> identity;
  std::optional<size_t> length;
  for (size_t begin = 0, line_end = 0; begin < end; begin = line_end + 2) {
    line_end = text.find("\r\n", begin);
    const std::string_view line = text.substr(begin, line_end - begin);
    if (const auto coding = ReadFieldValue(line, kCoding)) {
      if (*coding == "identity") identity = begin;
      chunked = chunked || *coding == "chunked";
      ++codings;
    } else if (!length && ReadFieldValue(line, kLength)) {
      length = begin;  // a second one stays, and the parser refuses it
    }
  }
  if (identity && codings == 1) HideFieldName(bytes, *identity);
  if (!chunked || codings > 1 || !length) return false;
  HideFieldName(bytes, *length);
  return true;
}

}  // namespace caip::http
