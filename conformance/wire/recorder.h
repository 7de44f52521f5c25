#pragma once
// An endpoint that believes everything and writes down what reaches it: how commands are judged.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/result.h"

namespace conform {

using Json = nlohmann::json;

/// Serves jobs.create and what uploading packages needs, on a port of 127.0.0.1, in a thread of its
/// own, until it goes away.
class Recorder {
 public:
  /// `reply`: {status, body} answered to jobs.create instead of the job.
  static Result<std::unique_ptr<Recorder>> Start(const Json& reply);
  ~Recorder();
  Recorder(const Recorder&) = delete;

  std::string url() const;
  /// {job: the last body of jobs.create, jobs: all of them, uploads: [{bucket, name, size}],
  /// requests: ["POST /v1/..."]}.
  Json Seen() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What an upload's request body holds: name and size of the object. The body is multipart/related
/// in any of the forms that Google's clients send.
struct Upload {
  std::string name;
  size_t size = 0;
};
Upload UploadOf(const std::string& content_type, const std::string& target,
                const std::string& body);

}  // namespace conform
