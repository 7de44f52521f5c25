#pragma once
// The name of an image as people and clients write it: "gcr.io/project/image:tag", "busybox",
// "localhost:5000/a/b@sha256:…". The grammar and the short names are Docker's
// (https://pkg.go.dev/github.com/distribution/reference).

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "images/digest.h"

namespace caip::images {

/// A valid name of an image.
class ImageReference {
 public:
  /// kInvalidArgument, with the reason "imageNameInvalid". Without a tag and a digest, the tag is
  /// "latest". A name without a host is one of docker.io, as for docker.
  static Result<ImageReference> Parse(std::string_view text);

  /// "gcr.io", "localhost:5000".
  const std::string& host() const { return host_; }
  /// The rest of the repository: "project/image".
  const std::string& path() const { return path_; }
  /// "gcr.io/project/image"; for "busybox" it is "docker.io/library/busybox".
  std::string repository() const { return host_ + "/" + path_; }
  /// "" if the name has only a digest.
  const std::string& tag() const { return tag_; }
  /// A name with a digest means exactly that manifest, whatever its tag.
  const std::optional<Digest>& digest() const { return digest_; }
  /// The whole name, with the tag or the digest.
  std::string text() const;

 private:
  ImageReference() = default;

  std::string host_;
  std::string path_;
  std::string tag_;
  std::optional<Digest> digest_;
};

/// Whether `text` is a tag: 1 to 128 letters, digits, '_', '.' and '-', not led by '.' or '-'.
bool IsTag(std::string_view text);
/// Whether `text` is a path of a repository, such as "project/image".
bool IsRepositoryPath(std::string_view text);

/// The shortest name that means the same image to docker: "busybox:latest" for
/// "docker.io/library/busybox", tag "latest".
std::string FamiliarName(std::string_view repository, std::string_view tag);
/// The same with a digest: "busybox@sha256:…".
std::string FamiliarName(std::string_view repository, const Digest& digest);

}  // namespace caip::images
