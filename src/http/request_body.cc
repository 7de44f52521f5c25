#include "http/request_body.h"

#include <boost/beast/http.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "http/errors.h"

namespace caip::http {
namespace {

namespace beast = boost::beast::http;

constexpr size_t kChunkHeadBytesMax = 64 << 10;
constexpr size_t kChunkInputBytes = 256 << 10;
constexpr size_t kDrainBytes = 64 << 10;
constexpr uint64_t kDrainBytesMax = 64 << 20;  // a refused upload is still read this far, so that
                                               // clients that send first and read then see why

}  // namespace

RequestBody::RequestBody(Socket& socket, Input& input, RequestParser& parser, Activity& activity,
                         int silence_seconds)
    : socket_(socket),
      input_(input),
      parser_(parser),
      activity_(activity),
      silence_seconds_(silence_seconds) {
  chunked_ = parser.chunked();
  left_ = chunked_ ? 0 : parser.content_length().value_or(0);
  const std::string expect = LowerCase(parser.get()[beast::field::expect]);
  continue_wanted_ = expect == "100-continue" && parser.get().version() >= 11 && !AtEnd();
}

Result<size_t> RequestBody::Read(char* buffer, size_t size) {
  if (failed_) return errors::BodyTruncated();
  if (AtEnd() || size == 0) return size_t{0};
  if (!std::exchange(begun_, true)) activity_.Enter(Activity::State::kReading);
  if (std::exchange(continue_wanted_, false) &&
      socket_.Send("HTTP/1.1 100 Continue\r\n\r\n") != Flow::kData) {
    return Fail(Flow::kBroken);
  }
  const auto count = chunked_ ? ReadChunked(buffer, size) : ReadCounted(buffer, size);
  if (count.ok()) activity_.BodyCame(*count);
  if (AtEnd() || failed_) activity_.Enter(Activity::State::kWorking);
  return count;
}

bool RequestBody::WorthDraining() const {
  return !failed_ && !continue_wanted_ && (chunked_ || left_ <= kDrainBytesMax);
}

bool RequestBody::Drain() {
  if (AtEnd()) return true;
  std::vector<char> scratch(kDrainBytes);
  for (uint64_t skipped = 0; skipped <= kDrainBytesMax;) {
    const auto count = Read(scratch.data(), scratch.size());
    if (!count.ok()) return false;
    if (*count == 0) return true;
    skipped += *count;
  }
  return false;
}

Result<size_t> RequestBody::ReadCounted(char* buffer, size_t size) {
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
  return size;
}

Result<size_t> RequestBody::ReadChunked(char* buffer, size_t size) {
  auto& body = parser_.get().body();
  body.data = buffer;
  body.size = size;
  while (body.size == size && !parser_.is_done()) {
    boost::system::error_code error = beast::error::need_more;
    if (input_.size() > 0) {
      const std::string_view bytes = input_.view();
      input_.Consume(parser_.put(boost::asio::buffer(bytes.data(), bytes.size()), error));
    }
    if (error == beast::error::need_more) {
      if (input_.size() > kChunkHeadBytesMax) return Malformed("a chunk's head is too long");
      const Flow flow = input_.ReceiveMore(socket_, kChunkInputBytes);
      if (flow != Flow::kData) return Fail(flow);
    } else if (error && error != beast::error::need_buffer) {
      return Malformed(error.message());
    }
  }
  return size - body.size;
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

}  // namespace caip::http
