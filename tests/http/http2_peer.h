#pragma once
// A client that speaks HTTP/2 without TLS, for requests that no other client would send.

#include <nghttp2/nghttp2.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/transport/endpoint.h"

namespace caip::http {

class Http2Peer {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// What came back for one request.
  struct Answer {
    std::map<std::string, std::string> fields;    // of the header
    std::map<std::string, std::string> trailers;  // after the body
    std::string body;
    bool is_closed = false;
    uint32_t reset_code = 0;
    std::string status() const { return fields.count(":status") ? fields.at(":status") : ""; }
  };

  /// `window`: how many bytes of each body the server may send until the peer asks for more.
  explicit Http2Peer(uint16_t port, uint32_t window = 65535) {
    auto connected = ConnectTo("127.0.0.1", std::to_string(port), std::chrono::milliseconds(5000));
    if (connected.ok()) socket_ = std::move(*connected);
    socket_.SetSilenceLimit(std::chrono::milliseconds(20000));
    nghttp2_session_callbacks* callbacks = nullptr;
    ::nghttp2_session_callbacks_new(&callbacks);
    ::nghttp2_session_callbacks_set_on_header_callback(callbacks, OnField);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    ::nghttp2_session_client_new(&session_, callbacks, this);
    ::nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
    ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
  }
  ~Http2Peer() { ::nghttp2_session_del(session_); }
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;

  static Fields Head(const std::string& method, const std::string& path, const Fields& more = {},
                     const std::string& authority = "localhost") {
    Fields fields = {
        {":method", method}, {":scheme", "http"}, {":authority", authority}, {":path", path}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }

  /// Sends a request, and returns its stream. `more_follows`: the body does not end.
  int32_t Send(const Fields& head, const std::string& body = "", bool more_follows = false) {
    std::vector<nghttp2_nv> fields;
    for (const auto& [name, value] : head) {
      fields.push_back({Bytes(name), Bytes(value), name.size(), value.size(), 0});
    }
    const bool has_body = !body.empty() || more_follows;
    auto* const upload = &uploads_[next_upload_++];
    *upload = {body, 0, more_follows};
    nghttp2_data_provider source{};
    source.source.ptr = upload;
    source.read_callback = ReadUpload;
    const int32_t id = ::nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                has_body ? &source : nullptr, nullptr);
    Flush();
    return id;
  }
  void Reset(int32_t id) {
    ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    Flush();
  }
  /// Reads until the stream is closed, or the connection ends.
  Answer Await(int32_t id) {
    while (!answers_[id].is_closed && ReceiveMore()) {
    }
    return answers_[id];
  }
  /// Reads until the head of the response has come, or the connection ends.
  Answer AwaitHead(int32_t id) {
    while (answers_[id].status().empty() && ReceiveMore()) {
    }
    return answers_[id];
  }
  Answer Ask(const Fields& head, const std::string& body = "") { return Await(Send(head, body)); }
  /// True once the server has closed the connection.
  bool AwaitEnd() {
    while (ReceiveMore()) {
    }
    return has_ended_;
  }
  /// The reason that the server gave for the connection's end.
  std::optional<uint32_t> end_code() const { return end_code_; }
  void SendBytes(std::string_view bytes) { socket_.Send(bytes); }
  /// Reads bytes before the first request; less than `count` if the server sends less.
  std::string ReceiveBytes(size_t count) {
    std::string bytes(count, '\0');
    size_t done = 0;
    while (done < count) {
      const Received received = socket_.Receive(bytes.data() + done, count - done);
      if (received.flow != Flow::kData) break;
      done += received.count;
    }
    bytes.resize(done);
    return bytes;
  }
  void Close() { socket_.Close(); }

 private:
  struct Upload {
    std::string bytes;
    size_t at = 0;
    bool more_follows = false;
  };

  static uint8_t* Bytes(const std::string& text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  }
  static Http2Peer& Of(void* user) { return *static_cast<Http2Peer*>(user); }

  static int OnField(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                     size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                     void* user) {
    Answer& answer = Of(user).answers_[frame->hd.stream_id];
    const bool is_head = frame->headers.cat == NGHTTP2_HCAT_RESPONSE;
    (is_head ? answer.fields
             : answer.trailers)[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), value_size);
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    Of(user).answers_[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t code, void* user) {
    Of(user).answers_[id].is_closed = true;
    Of(user).answers_[id].reset_code = code;
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) Of(user).end_code_ = frame->goaway.error_code;
    return 0;
  }
  static ssize_t ReadUpload(nghttp2_session*, int32_t, uint8_t* buffer, size_t size,
                            uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& upload = *static_cast<Upload*>(source->ptr);
    const size_t count = upload.bytes.copy(reinterpret_cast<char*>(buffer), size, upload.at);
    upload.at += count;
    if (upload.at < upload.bytes.size()) return static_cast<ssize_t>(count);
    if (count == 0 && upload.more_follows) return NGHTTP2_ERR_DEFERRED;
    if (!upload.more_follows) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  void Flush() {
    const uint8_t* bytes = nullptr;
    for (ssize_t count; (count = ::nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      socket_.Send({reinterpret_cast<const char*>(bytes), static_cast<size_t>(count)});
    }
  }
  bool ReceiveMore() {
    char buffer[16 << 10];
    const Received received = socket_.Receive(buffer, sizeof buffer);
    has_ended_ = received.flow == Flow::kEnd || received.flow == Flow::kBroken;
    if (received.flow != Flow::kData) return false;
    ::nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(buffer), received.count);
    Flush();
    return true;
  }

  Socket socket_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::map<int, Upload> uploads_;
  int next_upload_ = 0;
  bool has_ended_ = false;
  std::optional<uint32_t> end_code_;
};

}  // namespace caip::http
