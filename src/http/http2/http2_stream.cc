#include "http/http2/http2_stream.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "http/errors.h"

namespace caip::http {
namespace {

constexpr size_t kOutputBytesMax = 128 << 10;  // beyond it, the handler waits
constexpr size_t kReadBytesMax = 256 << 10;    // of a request's body that are kept after reading
constexpr size_t kSlicePieceBytes = 64 << 10;

bool HasNoBody(int status) { return status == 204 || status == 304; }

}  // namespace

Http2Alarm::Http2Alarm() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Http2Alarm::Ring() const {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void Http2Alarm::Silence() const {
  uint64_t ignored;
  [[maybe_unused]] const auto read = ::read(event_.get(), &ignored, sizeof ignored);
}

bool Http2Stream::ReceiveBody(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (abandoned_ || handler_ended_) return false;
  if (input_begin_ == input_.size() || input_begin_ > kReadBytesMax) {
    input_.erase(0, std::exchange(input_begin_, 0));
  }
  input_.append(bytes);
  changed_.notify_all();
  return true;
}

void Http2Stream::EndBody() {
  const std::lock_guard lock(mutex_);
  input_ended_ = true;
  changed_.notify_all();
}

void Http2Stream::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

bool Http2Stream::EndByTrailers(std::shared_ptr<const Headers> trailers) {
  const std::lock_guard lock(mutex_);
  if (!trailers || !trailers_) return false;
  trailers_ = std::move(trailers);
  output_.clear();
  output_begin_ = 0;
  output_ended_ = true;
  output_broken_ = false;
  return true;
}

size_t Http2Stream::TakeReadCount() {
  const std::lock_guard lock(mutex_);
  const bool is_unread = (abandoned_ || handler_ended_) && input_begin_ < input_.size();
  if (is_unread) {
    read_count_ += input_.size() - input_begin_;
    input_begin_ = input_.size();
  }
  return std::exchange(read_count_, 0);
}

std::optional<Http2Stream::Head> Http2Stream::TakeHead() {
  const std::lock_guard lock(mutex_);
  return std::exchange(head_, std::nullopt);
}

bool Http2Stream::HasOutput() {
  const std::lock_guard lock(mutex_);
  return output_begin_ < output_.size() || output_ended_;
}

size_t Http2Stream::TakeOutput(char* buffer, size_t size, BodyState* state) {
  const std::lock_guard lock(mutex_);
  const size_t count = output_.copy(buffer, size, output_begin_);
  output_begin_ += count;
  if (count > 0) progress_at = MonotonicNow();
  if (output_begin_ == output_.size()) output_.clear(), output_begin_ = 0;
  const bool is_last = output_.empty() && output_ended_;
  *state = !is_last ? BodyState::kMore : output_broken_ ? BodyState::kBroken : BodyState::kEnd;
  changed_.notify_all();
  return count;
}

Result<size_t> Http2Stream::Read(char* buffer, size_t size) {
  std::unique_lock lock(mutex_);
  const auto has_come = [this] {
    return input_begin_ < input_.size() || input_ended_ || abandoned_;
  };
  if (!changed_.wait_for(lock, std::chrono::seconds(silence_seconds_), has_come)) {
    return errors::PeerSilent(silence_seconds_);
  }
  if (input_begin_ == input_.size()) {
    if (abandoned_ && !input_ended_) return errors::BodyTruncated();
    return size_t{0};
  }
  const size_t count = input_.copy(buffer, size, input_begin_);
  input_begin_ += count;
  read_count_ += count;
  lock.unlock();
  alarm_.Ring();
  return count;
}

bool Http2Stream::IsAbandoned() {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

void Http2Stream::Answer(const Response& response, bool is_head_only) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(answered_, true)) return;
    const bool streams = response.file || response.write_body;
    const bool has_body = !is_head_only && !HasNoBody(response.status) && !response.reset &&
                          (streams || !response.body.empty() || response.trailers);
    head_ = Head{response.status, response.headers, -1, has_body, response.reset};
    trailers_ = response.trailers;
    if (response.file) output_left_ = static_cast<int64_t>(response.file->length);
    if (response.write_body) output_left_ = response.content_length;
    if (!streams) output_left_ = static_cast<int64_t>(response.body.size());
    if (!HasNoBody(response.status)) head_->content_length = output_left_;
    if (!has_body || !streams) {
      if (has_body) output_ = response.body;
      output_ended_ = true;
      output_left_ = 0;
    }
  }
  alarm_.Ring();
  if (output_ended_) return;
  if (response.file) {
    WriteSlice(*response.file);
  } else {
    WriteStreamed(response);
  }
}

// False if the client takes no more.
bool Http2Stream::Put(std::string_view piece) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return abandoned_ || output_.size() - output_begin_ < kOutputBytesMax; });
  const auto size = static_cast<int64_t>(piece.size());
  if (abandoned_ || output_ended_ || (output_left_ >= 0 && size > output_left_)) return false;
  if (output_left_ >= 0) output_left_ -= size;
  if (output_begin_ > 0) output_.erase(0, std::exchange(output_begin_, 0));
  output_ += piece;
  lock.unlock();
  if (size > 0) alarm_.Ring();
  return true;
}

void Http2Stream::WriteSlice(const FileSlice& file) {
  std::vector<char> piece(kSlicePieceBytes);
  uint64_t at = file.offset;
  for (uint64_t left = file.length; left > 0;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(left, piece.size()));
    const ssize_t count =
        ::pread(file.descriptor.get(), piece.data(), want, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || !Put({piece.data(), static_cast<size_t>(count)})) return EndOutput(false);
    at += static_cast<uint64_t>(count);
    left -= static_cast<uint64_t>(count);
  }
  EndOutput(true);
}

void Http2Stream::WriteStreamed(const Response& response) {
  bool is_whole = true;
  try {
    response.write_body([&](std::string_view piece) {
      is_whole = is_whole && Put(piece);
      return is_whole;
    });
  } catch (...) {
    is_whole = false;  // resetting the stream is the only signal left
  }
  EndOutput(is_whole);
}

void Http2Stream::EndOutput(bool is_whole) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(output_ended_, true)) return;
    output_broken_ = !is_whole || output_left_ > 0;
  }
  alarm_.Ring();
}

void Http2Stream::MarkHandlerEnded() {
  {
    const std::lock_guard lock(mutex_);
    handler_ended_ = true;
  }
  alarm_.Ring();
}

bool Http2Stream::has_handler_ended() {
  const std::lock_guard lock(mutex_);
  return handler_ended_;
}

}  // namespace caip::http
