#pragma once
// The user that an image names, looked up in the image's own files.

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

struct ImageUser {
  uint32_t user = 0;
  uint32_t group = 0;
  std::string home = "/";
};

/// Reads USER of an image ("", "name", "1000", "name:group", "1000:100") by the rules of Docker: a
/// name is in /etc/passwd of the image, a number need not be. `layers` are the unpacked layers,
/// lowest first. kNotFound: the image has no such name.
Result<ImageUser> FindImageUser(const std::string& user, const std::vector<Path>& layers);

}  // namespace caip::host
