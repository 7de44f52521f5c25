#pragma once
// One request and its response on an HTTP/2 connection: what the connection's thread and the
// handler's thread share. Private to src/http.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "http/message.h"
#include "http/server.h"

namespace caip::http {

/// Wakes the thread of a connection that waits for its socket. Any thread.
class Http2Alarm {
 public:
  Http2Alarm();
  /// False if the process has no descriptor left.
  bool is_open() const { return event_.valid(); }
  void Ring() const;
  void Silence() const;
  int descriptor() const { return event_.get(); }

 private:
  Fd event_;  // an eventfd
};

/// A stream in the words of RFC 9113. The alarm outlives it.
class Http2Stream final : public BodyReader {
 public:
  /// The head of a response. The stream has its body.
  struct Head {
    int status = 200;
    Headers headers;
    int64_t content_length = -1;  // -1 unknown
    bool has_body = true;
    bool reset = false;  // reset the stream instead
  };
  /// The state of a response's body.
  enum class BodyState { kMore, kEnd, kBroken };

  Http2Stream(int32_t id, const Http2Alarm& alarm, int silence_seconds)
      : id_(id), alarm_(alarm), silence_seconds_(silence_seconds) {}
  int32_t id() const { return id_; }

  // For the connection's thread.

  /// The request, until the handler has it.
  Request request;
  size_t header_bytes = 0;
  std::optional<TimeLimit> limit;
  bool is_served = false;     // a handler has the request
  bool is_submitted = false;  // the head of the response was handed to nghttp2
  bool is_deferred = false;   // nghttp2 waits for more of the response's body
  /// When the client last took a part of the response, or the response last had none to take.
  MonotonicTime progress_at;

  /// Appends to the request's body. False if no handler will read it.
  bool ReceiveBody(std::string_view bytes);
  void EndBody();
  /// The client has gone, or waits no longer: wakes the handler and drops the rest of its response.
  void Abandon();
  /// Ends a body that has trailers by others, without the rest of it. False if it has none.
  bool EndByTrailers(std::shared_ptr<const Headers> trailers);
  /// How many bytes of the body the handler has read since the last call.
  size_t TakeReadCount();
  /// The head of the response once, as soon as it is known.
  std::optional<Head> TakeHead();
  bool HasOutput();
  /// Moves at most `size` bytes of the response's body to `buffer`.
  size_t TakeOutput(char* buffer, size_t size, BodyState* state);
  std::shared_ptr<const Headers> trailers() const { return trailers_; }

  // For the thread that answers.

  Result<size_t> Read(char* buffer, size_t size) override;
  bool IsAbandoned();
  /// Hands the response to the connection, and returns when the connection has taken nearly all of
  /// it. Only the first answer counts.
  void Answer(const Response& response, bool is_head_only);
  void MarkHandlerEnded();
  bool has_handler_ended();

 private:
  bool Put(std::string_view piece);
  void WriteSlice(const FileSlice& file);
  void WriteStreamed(const Response& response);
  void EndOutput(bool is_whole);

  const int32_t id_;
  const Http2Alarm& alarm_;
  const int silence_seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string input_;
  size_t input_begin_ = 0;
  size_t read_count_ = 0;
  bool input_ended_ = false;
  bool abandoned_ = false;
  bool answered_ = false;
  bool handler_ended_ = false;
  std::optional<Head> head_;
  std::string output_;
  size_t output_begin_ = 0;
  bool output_ended_ = false;
  bool output_broken_ = false;
  int64_t output_left_ = -1;  // of an announced length; -1 unknown
  std::shared_ptr<const Headers> trailers_;
};

}  // namespace caip::http
