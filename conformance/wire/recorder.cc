#include "conformance/wire/recorder.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/format/received_json.h"
#include "conformance/problems.h"

namespace conform {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using net::ip::tcp;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

std::string Decoded(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string QueryValue(const std::string& target, const std::string& name) {
  const size_t at = target.find_first_of("?&");
  for (size_t from = at; from != std::string::npos; from = target.find('&', from + 1)) {
    if (target.compare(from + 1, name.size() + 1, name + "=") != 0) continue;
    const size_t start = from + name.size() + 2;
    return Decoded(target.substr(start, target.find('&', start) - start));
  }
  return "";
}

// Reads BUCKET from ".../b/BUCKET/o...".
std::string BucketOf(const std::string& target) {
  const size_t at = target.find("/b/");
  if (at == std::string::npos) return "";
  const size_t start = at + 3;
  return Decoded(target.substr(start, target.find_first_of("/?", start) - start));
}

}  // namespace

Upload UploadOf(const std::string& content_type, const std::string& target,
                const std::string& body) {
  Upload upload{QueryValue(target, "name"), body.size()};
  const size_t mark = content_type.find("boundary=");
  if (mark == std::string::npos) return upload;
  std::string boundary = content_type.substr(mark + 9);
  if (!boundary.empty() && (boundary[0] == '"' || boundary[0] == '\'')) {
    boundary = boundary.substr(1, boundary.find(boundary[0], 1) - 1);
  }
  boundary = "--" + boundary;
  const size_t second = body.find(boundary, body.find(boundary) + 1);
  const size_t last = body.rfind(boundary);
  if (second == std::string::npos || last <= second) return upload;
  if (upload.name.empty()) {
    const size_t brace = body.find('{');
    const Json metadata = ParseReceived(body.substr(brace, body.rfind('}', second) - brace + 1));
    if (metadata.is_object()) upload.name = metadata.value("name", "");
  }
  const size_t crlf = body.find("\r\n\r\n", second);
  const size_t lf = body.find("\n\n", second);
  const size_t start = crlf < lf ? crlf + 4 : lf + 2;
  const size_t end = body[last - 1] == '\n' && body[last - 2] == '\r' ? last - 2 : last - 1;
  upload.size = end - start;
  return upload;
}

struct Recorder::Impl {
  Json reply;
  net::io_context context;
  tcp::acceptor acceptor{context};
  std::thread thread;
  mutable std::mutex mutex;
  Json jobs = Json::array();
  Json uploads = Json::array();
  Json requests = Json::array();

  // A CustomJob or HyperparameterTuningJob as Vertex AI answers with it.
  Json CreateResource(const Request& request, const std::string& path, http::status* status) {
    Json resource = CreateJob(request, status);
    if (reply.contains("status")) return resource;
    resource.erase("etag");
    resource["name"] = path.substr(std::string("/v1/").size()) + "/1234567890123456789";
    resource["state"] = "JOB_STATE_PENDING";
    return resource;
  }

  Json CreateJob(const Request& request, http::status* status) {
    Json job = ParseReceived(request.body());
    jobs.push_back(job);
    if (reply.contains("status")) {
      *status = http::status(reply["status"].get<unsigned>());
      return reply.value("body", Json::object());
    }
    if (!job.is_object()) job = Json::object();
    job["state"] = "QUEUED";
    job["createTime"] = "2020-01-01T00:00:00Z";
    job["etag"] = "AAAAAAAAAAA=";
    return job;
  }

  Json Uploaded(const Request& request, const std::string& target) {
    const Upload upload =
        UploadOf(std::string(request[http::field::content_type]), target, request.body());
    const Json object = {{"kind", "storage#object"},
                         {"bucket", BucketOf(target)},
                         {"name", upload.name},
                         {"size", std::to_string(upload.size)},
                         {"generation", "1"}};
    uploads.push_back({{"bucket", BucketOf(target)}, {"name", upload.name}, {"size", upload.size}});
    return object;
  }

  Json AnswerTo(const Request& request, http::status* status) {
    const std::string target(request.target());
    const std::string path = target.substr(0, target.find('?'));
    const bool post = request.method() == http::verb::post;
    const std::lock_guard lock(mutex);
    requests.push_back(std::string(request.method_string()) + " " + target);
    if (post && path.starts_with("/v1/") && path.ends_with("/jobs")) {
      return CreateJob(request, status);
    }
    if (post && path.starts_with("/v1/") &&
        (path.ends_with("/customJobs") || path.ends_with("/hyperparameterTuningJobs"))) {
      return CreateResource(request, path, status);
    }
    if (post && path.find("/upload/") != std::string::npos) return Uploaded(request, target);
    if (path.find("/o/") != std::string::npos) {
      *status = http::status::not_found;
      return {{"error", {{"code", 404}, {"message", "Not Found"}, {"status", "NOT_FOUND"}}}};
    }
    if (path.find("/b/") != std::string::npos && !path.ends_with("/o")) {
      return {{"kind", "storage#bucket"}, {"name", BucketOf(target)}, {"id", BucketOf(target)}};
    }
    return Json::object();
  }

  class Session;
  void Accept();
};

// One connection. Lives until its last operation ends.
class Recorder::Impl::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Impl& impl, tcp::socket socket) : impl_(impl), stream_(std::move(socket)) {}

  void Read() {
    request_ = std::make_unique<http::request_parser<http::string_body>>();
    request_->body_limit(64u << 20);
    http::async_read(stream_, buffer_, *request_,
                     [self = shared_from_this()](beast::error_code code, size_t) {
                       if (!code) self->Write();
                     });
  }

 private:
  void Write() {
    http::status status = http::status::ok;
    response_ = Response();
    response_.body() = impl_.AnswerTo(request_->get(), &status).dump();
    response_.result(status);
    response_.version(11);
    response_.set(http::field::content_type, "application/json; charset=UTF-8");
    response_.keep_alive(request_->get().keep_alive());
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code code, size_t) {
                        if (!code && self->response_.keep_alive()) self->Read();
                      });
  }

  Impl& impl_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::unique_ptr<http::request_parser<http::string_body>> request_;
  Response response_;
};

void Recorder::Impl::Accept() {
  acceptor.async_accept([this](beast::error_code code, tcp::socket socket) {
    if (!code) std::make_shared<Session>(*this, std::move(socket))->Read();
    if (code != net::error::operation_aborted) Accept();
  });
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Recorder>> Recorder::Start(const Json& reply) {
  auto impl = std::make_unique<Impl>();
  impl->reply = reply;
  beast::error_code code;
  const tcp::endpoint place(net::ip::make_address("127.0.0.1"), 0);
  impl->acceptor.open(place.protocol(), code);
  if (!code) impl->acceptor.bind(place, code);
  if (!code) impl->acceptor.listen(16, code);
  if (code) return problems::CannotListen(code.message());
  Impl* running = impl.get();
  running->Accept();
  running->thread = std::thread([running] { running->context.run(); });
  return std::unique_ptr<Recorder>(new Recorder(std::move(impl)));
}

Recorder::~Recorder() {
  impl_->context.stop();
  impl_->thread.join();
}

std::string Recorder::url() const {
  return "http://127.0.0.1:" + std::to_string(impl_->acceptor.local_endpoint().port());
}

Json Recorder::Seen() const {
  const std::lock_guard lock(impl_->mutex);
  Json seen = {{"jobs", impl_->jobs}, {"uploads", impl_->uploads}, {"requests", impl_->requests}};
  if (!impl_->jobs.empty()) seen["job"] = impl_->jobs.back();
  return seen;
}

}  // namespace conform
