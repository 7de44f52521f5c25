#pragma once
// The JSON API as this module calls it, in process. The XML API is a dialect of it: what is asked
// in XML is asked again in JSON, so that both always mean the same.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fakes/gcs/xml/place.h"
#include "http/message.h"

namespace caip::gcs {

using QueryList = std::vector<std::pair<std::string, std::string>>;

/// An answer of the JSON API. `json` is null for an error and for no body.
struct JsonAnswer {
  http::Response response;
  Json json;
  bool ok() const { return response.status >= 200 && response.status < 300 && !response.reset; }
};

/// Bytes in memory as a request's body.
class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  Result<size_t> Read(char* buffer, size_t size) override;

 private:
  std::string text_;
  size_t at_ = 0;
};

/// What an insert is told. `metadata` is an object resource; `query` preconditions and the like.
struct Insertion {
  std::string bucket;
  std::string object;
  Json metadata = Json::object();
  QueryList query = {};
};

/// Any thread. `asked` is always the request in XML on whose behalf something is called: its host,
/// its retry test and the like go along.
class JsonStorage {
 public:
  explicit JsonStorage(http::Handler handler) : handler_(std::move(handler)) {}

  /// A call whose body is JSON (null: none) and whose answer is, too.
  JsonAnswer Call(const http::Request& asked, const std::string& method, const std::string& path,
                  QueryList query = {}, const Json& body = Json()) const;
  /// A call with any body (nullptr: none), further headers, and an answer that may be a stream.
  http::Response Send(const http::Request& asked, const std::string& method,
                      const std::string& path, QueryList query, http::Headers headers,
                      http::BodyReader* body) const;
  /// Stores the body's bytes with metadata. `sums` is an x-goog-hash or "". `boundary` must not
  /// occur in the bytes.
  JsonAnswer Insert(const http::Request& asked, const Insertion& insertion, const std::string& sums,
                    const std::string& boundary, http::BodyReader& bytes) const;

 private:
  http::Handler handler_;
};

std::string BucketPath(const std::string& bucket);
std::string ObjectPath(const Place& place);

/// The answer to the XML request for a JSON call that failed. A 404 for an object in a bucket that
/// is not there is told apart by a look.
http::Response FailureOf(const JsonStorage& storage, const http::Request& asked, const Place& place,
                         http::Response response);

}  // namespace caip::gcs
