#include "http/http2/http2_session.h"

#include <nghttp2/nghttp2.h>

#include "http/http2/http2_messages.h"
#include "http/transport/socket.h"

namespace caip::http {
namespace {

constexpr uint32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 16 << 20;
constexpr size_t kSendBytes = 64 << 10;

Http2Events& EventsOf(void* user) { return *static_cast<Http2Events*>(user); }

std::string_view TextOf(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

bool IsRequestHead(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

bool EndsStream(const nghttp2_frame& frame) {
  const bool is_part = frame.hd.type == NGHTTP2_DATA || frame.hd.type == NGHTTP2_HEADERS;
  return is_part && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

int OnFrameReceived(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (EndsStream(*frame)) EventsOf(user).EndBody(frame->hd.stream_id);
  if (IsRequestHead(*frame)) EventsOf(user).EndHead(frame->hd.stream_id);
  return 0;
}

int OnField(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
            const uint8_t* value, size_t value_size, uint8_t, void* user) {
  if (!IsRequestHead(*frame)) return 0;
  const bool goes_on = EventsOf(user).AddField(frame->hd.stream_id, TextOf(name, name_size),
                                               TextOf(value, value_size));
  return goes_on ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

// Tells a client that its body is not needed, after the whole response was sent (RFC 9113, 8.1).
int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void*) {
  const int32_t id = frame->hd.stream_id;
  if (EndsStream(*frame) && ::nghttp2_session_get_stream_remote_close(session, id) == 0) {
    ::nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  }
  return 0;
}

void SetCallbacks(nghttp2_session_callbacks* callbacks) {
  ::nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (IsRequestHead(*frame)) EventsOf(user).BeginHead(frame->hd.stream_id);
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_header_callback(callbacks, OnField);
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrameReceived);
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
        EventsOf(user).TakeData(id, TextOf(data, size));
        return 0;
      });
  ::nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
  ::nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, int32_t id, uint32_t, void* user) {
        EventsOf(user).CloseStream(id);
        return 0;
      });
}

// nghttp2 asks for the next bytes of a response's body.
ssize_t ReadOutput(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                   uint32_t* flags, nghttp2_data_source* source, void*) {
  auto& stream = *static_cast<Http2Stream*>(source->ptr);
  auto state = Http2Stream::BodyState::kMore;
  const size_t count = stream.TakeOutput(reinterpret_cast<char*>(buffer), size, &state);
  if (state == Http2Stream::BodyState::kBroken) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  if (state == Http2Stream::BodyState::kMore && count == 0) {
    stream.is_deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  if (state != Http2Stream::BodyState::kEnd) return static_cast<ssize_t>(count);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (const auto trailers = stream.trailers()) {
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const Http2Fields fields = TrailerFields(*trailers);
    ::nghttp2_submit_trailer(session, id, fields.data(), fields.size());
  }
  return static_cast<ssize_t>(count);
}

}  // namespace

Http2Session::~Http2Session() { ::nghttp2_session_del(session_); }

bool Http2Session::Open(size_t header_bytes_max) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  if (::nghttp2_session_callbacks_new(&callbacks) != 0) return false;
  SetCallbacks(callbacks);
  bool is_open = ::nghttp2_option_new(&option) == 0;
  if (is_open) {
    ::nghttp2_option_set_no_auto_window_update(option, 1);  // handlers set the pace of a body
    is_open = ::nghttp2_session_server_new2(&session_, callbacks, &events_, option) == 0;
    ::nghttp2_option_del(option);
  }
  ::nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kHttp2StreamsMax},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(header_bytes_max)}};
  return is_open &&
         ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)) ==
             0 &&
         ::nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                 kConnectionWindowBytes) == 0;
}

bool Http2Session::Feed(std::string_view bytes) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
  const ssize_t count = ::nghttp2_session_mem_recv(session_, begin, bytes.size());
  const bool is_flood = count == NGHTTP2_ERR_FLOODED;
  if (count < 0) End(is_flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  return count >= 0;
}

bool Http2Session::SendTo(Socket& socket) {
  std::string pending;
  while (true) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = ::nghttp2_session_mem_send(session_, &bytes);
    if (count < 0) return false;
    pending.append(TextOf(bytes, static_cast<size_t>(count)));
    if (count > 0 && pending.size() < kSendBytes) continue;
    if (!pending.empty() && socket.Send(pending) != Flow::kData) return false;
    if (count == 0) return true;
    pending.clear();
  }
}

bool Http2Session::IsOver() const {
  return ::nghttp2_session_want_read(session_) == 0 && ::nghttp2_session_want_write(session_) == 0;
}

void Http2Session::Respond(Http2Stream& stream, const Http2Stream::Head& head) {
  if (head.reset) return Reset(stream.id(), NGHTTP2_INTERNAL_ERROR);
  const Http2Fields fields = ResponseFields(head.status, head.headers, head.content_length);
  nghttp2_data_provider body{};
  body.source.ptr = &stream;
  body.read_callback = ReadOutput;
  ::nghttp2_submit_response(session_, stream.id(), fields.data(), fields.size(),
                            head.has_body ? &body : nullptr);
}

void Http2Session::Resume(int32_t id) { ::nghttp2_session_resume_data(session_, id); }

void Http2Session::Credit(int32_t id, size_t bytes) {
  ::nghttp2_session_consume(session_, id, bytes);
}

void Http2Session::CreditConnection(size_t bytes) {
  ::nghttp2_session_consume_connection(session_, bytes);
}

bool Http2Session::HasWindow(int32_t id) const {
  return ::nghttp2_session_get_remote_window_size(session_) > 0 &&
         ::nghttp2_session_get_stream_remote_window_size(session_, id) > 0;
}

void Http2Session::Reset(int32_t id, uint32_t code) {
  ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, code);
}

void Http2Session::RefuseMore() {
  ::nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          ::nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
}

void Http2Session::End(uint32_t code) { ::nghttp2_session_terminate_session(session_, code); }

}  // namespace caip::http
