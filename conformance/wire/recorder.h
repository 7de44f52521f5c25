#pragma once
// An endpoint that accepts every request and records it, for judging commands.

#include <memory>
#include <string>

#include "conformance/json_fwd.h"
#include "conformance/result.h"

namespace conform {

/// Serves jobs.create and uploads of packages on a port of 127.0.0.1, in its own thread, for the
/// lifetime of the object.
class Recorder {
 public:
  /// `reply` is {status, body}: the answer to jobs.create instead of the job.
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

/// The name and size of an uploaded object. The request's body is multipart/related in any of the
/// forms that Google's clients send.
struct Upload {
  std::string name;
  size_t size = 0;
};
Upload UploadOf(const std::string& content_type, const std::string& target,
                const std::string& body);

}  // namespace conform
