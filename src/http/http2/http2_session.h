#pragma once
// The frames of one HTTP/2 connection, through nghttp2. Private to src/http.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/http2/http2_stream.h"
#include "http/transport/socket.h"

struct nghttp2_session;

namespace caip::http {

/// What a client does. Called by Http2Session::Feed, and by SendTo for the end of a stream.
class Http2Events {
 public:
  virtual ~Http2Events() = default;
  virtual void BeginHead(int32_t id) = 0;
  /// False ends the connection.
  virtual bool AddField(int32_t id, std::string_view name, std::string_view value) = 0;
  virtual void EndHead(int32_t id) = 0;
  virtual void TakeData(int32_t id, std::string_view data) = 0;
  virtual void EndBody(int32_t id) = 0;
  virtual void CloseStream(int32_t id) = 0;
};

inline constexpr uint32_t kHttp2StreamsMax = 100;

/// The server's side of a connection. One thread.
class Http2Session {
 public:
  explicit Http2Session(Http2Events& events) : events_(events) {}
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  /// False if nghttp2 cannot start.
  bool Open(size_t header_bytes_max);
  /// Reads what the client sent. False if it broke the protocol. The session is then over.
  bool Feed(std::string_view bytes);
  /// Sends all frames that wait. False if the connection is lost.
  bool SendTo(Socket& socket);
  bool IsOver() const;

  void Respond(Http2Stream& stream, const Http2Stream::Head& head);
  /// Continues a body that had no more bytes.
  void Resume(int32_t id);
  /// Lets the client send as many more bytes.
  void Credit(int32_t id, size_t bytes);
  /// The same for the connection, for a stream that is closed.
  void CreditConnection(size_t bytes);
  /// Whether the client's windows let the stream send more of its body.
  bool HasWindow(int32_t id) const;
  void Reset(int32_t id, uint32_t code);
  /// Accepts no further requests.
  void RefuseMore();
  /// Ends at once, with the reason. Only the first one counts.
  void End(uint32_t code);

 private:
  Http2Events& events_;
  nghttp2_session* session_ = nullptr;
};

}  // namespace caip::http
