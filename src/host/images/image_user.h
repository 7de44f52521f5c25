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
  std::vector<uint32_t> groups = {};  // the others, ascending
  std::string home = "/";
};

/// The texts of /etc/passwd and /etc/group in an image.
struct UserTables {
  std::string users;
  std::string groups;
};

/// Reads USER of an image ("", "name", "1000", "name:group", "1000:100") by the rules of Docker: a
/// name is in /etc/passwd of the image, a number need not be. If USER names no group, the user is
/// also in the groups of /etc/group that have it as a member. `layers` are the unpacked layers,
/// lowest first. kNotFound: the image has no such name, or no user or group can have its number.
Result<ImageUser> FindImageUser(const std::string& user, const std::vector<Path>& layers);
/// The same in tables that are read already.
Result<ImageUser> FindUserInTables(const std::string& user, const UserTables& tables);

}  // namespace caip::host
