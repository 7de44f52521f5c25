#include "fakes/gcs/xml/json_storage.h"

#include <algorithm>

#include "base/encoding.h"
#include "fakes/gcs/xml/xml_error.h"

namespace caip::gcs {
namespace {

using http::Request;
using http::Response;

// Headers that mean the same in both dialects.
constexpr const char* kShared[] = {"x-retry-test-id",       "x-goog-user-project",
                                   "x-goog-project-id",     "x-goog-encryption-algorithm",
                                   "x-goog-encryption-key", "x-goog-encryption-key-sha256",
                                   "Authorization",         "User-Agent"};

// A body between two texts.
class FramedBody final : public http::BodyReader {
 public:
  FramedBody(std::string before, http::BodyReader& bytes, std::string after)
      : before_(std::move(before)), bytes_(bytes), after_(std::move(after)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    ASSIGN_OR_RETURN(const size_t first, before_.Read(buffer, size));
    if (first > 0 || size == 0) return first;
    if (!bytes_ended_) {
      ASSIGN_OR_RETURN(const size_t count, bytes_.Read(buffer, size));
      if (count > 0) return count;
      bytes_ended_ = true;
    }
    return after_.Read(buffer, size);
  }

 private:
  TextBody before_;
  http::BodyReader& bytes_;
  TextBody after_;
  bool bytes_ended_ = false;
};

bool IsPlainMedia(const Json& metadata) {
  return std::all_of(metadata.items().begin(), metadata.items().end(), [](const auto& item) {
    return item.key() == "contentType" || item.key() == "contentEncoding";
  });
}

JsonAnswer AnswerOf(Response response) {
  JsonAnswer answer{std::move(response), Json()};
  if (!answer.ok()) return answer;
  if (answer.response.write_body) {  // a fault cuts the answer short; XML has none to cut
    answer.response = Response();
    answer.response.reset = true;
    return answer;
  }
  auto json = ParseJson(answer.response.body);
  if (json.ok()) answer.json = std::move(*json);
  return answer;
}

}  // namespace

Result<size_t> TextBody::Read(char* buffer, size_t size) {
  const size_t count = std::min(size, text_.size() - at_);
  std::copy_n(text_.data() + at_, count, buffer);
  at_ += count;
  return count;
}

Response JsonStorage::Send(const Request& asked, const std::string& method, const std::string& path,
                           QueryList query, http::Headers headers, http::BodyReader* body) const {
  TextBody nothing("");
  Request request;
  request.method = method;
  request.path = path;
  request.query = std::move(query);
  request.headers = std::move(headers);
  for (const char* name : kShared) {
    if (asked.headers.Has(name)) request.headers.Set(name, std::string(asked.headers.Get(name)));
  }
  request.scheme = asked.scheme;
  request.host = asked.host;
  request.peer = asked.peer;
  request.listener = asked.listener;
  request.body = body ? body : &nothing;
  return handler_(request);
}

JsonAnswer JsonStorage::Call(const Request& asked, const std::string& method,
                             const std::string& path, QueryList query, const Json& body) const {
  http::Headers headers;
  headers.Set("Content-Type", "application/json");
  TextBody text(body.is_null() ? "" : CompactJson(body));
  return AnswerOf(Send(asked, method, path, std::move(query), std::move(headers), &text));
}

JsonAnswer JsonStorage::Insert(const Request& asked, const Insertion& insertion,
                               const std::string& sums, const std::string& boundary,
                               http::BodyReader& bytes) const {
  QueryList query = insertion.query;
  query.emplace_back("name", insertion.object);
  http::Headers headers;
  if (!sums.empty()) headers.Set("x-goog-hash", sums);
  const std::string path = "/upload" + BucketPath(insertion.bucket) + "/o";
  const std::string type = StringOr(insertion.metadata, "contentType", "application/octet-stream");
  if (IsPlainMedia(insertion.metadata)) {
    query.emplace_back("uploadType", "media");
    const std::string encoding = StringOr(insertion.metadata, "contentEncoding");
    if (!encoding.empty()) query.emplace_back("contentEncoding", encoding);
    headers.Set("Content-Type", type);
    return AnswerOf(Send(asked, "POST", path, std::move(query), std::move(headers), &bytes));
  }
  query.emplace_back("uploadType", "multipart");
  headers.Set("Content-Type", "multipart/related; boundary=" + boundary);
  FramedBody framed("--" + boundary + "\r\nContent-Type: application/json\r\n\r\n" +
                        CompactJson(insertion.metadata) + "\r\n--" + boundary +
                        "\r\nContent-Type: " + type + "\r\n\r\n",
                    bytes, "\r\n--" + boundary + "--\r\n");
  return AnswerOf(Send(asked, "POST", path, std::move(query), std::move(headers), &framed));
}

std::string BucketPath(const std::string& bucket) {
  return "/storage/v1/b/" + PercentEncoded(bucket);
}

std::string ObjectPath(const Place& place) {
  return BucketPath(place.bucket) + "/o/" + PercentEncoded(place.object);
}

Response FailureOf(const JsonStorage& storage, const Request& asked, const Place& place,
                   Response response) {
  if (response.reset || response.status == 304) return response;
  std::string reason;
  std::string message;
  if (const auto json = ParseJson(response.body); json.ok()) {
    const Json* error = Member(*json, "error");
    message = error ? StringOr(*error, "message") : "";
    const Json* list = error ? Member(*error, "errors") : nullptr;
    if (list && list->is_array() && !list->empty()) reason = StringOr((*list)[0], "reason");
  }
  const bool of_object = !place.object.empty();
  bool bucket_missing = false;
  if (response.status == 404 && of_object && message.find("etry test") == std::string::npos) {
    bucket_missing = !storage.Call(asked, "GET", BucketPath(place.bucket)).ok();
  }
  Response shown =
      ToResponse(xml_errors::FromJson(response.status, reason, message, of_object, bucket_missing));
  if (response.headers.Has("Content-Range")) {
    shown.headers.Set("Content-Range", std::string(response.headers.Get("Content-Range")));
  }
  return shown;
}

}  // namespace caip::gcs
