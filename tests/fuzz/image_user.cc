// The user of an image is found in the image's own tables, whatever these hold. The input: USER of
// the image, a zero byte, /etc/passwd, a zero byte, /etc/group.

#include "host/images/image_user.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace caip;

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string_view NextPart(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string user(NextPart(text));
  const std::string_view users = NextPart(text);
  const auto found = host::FindUserInTables(
      user, host::UserTables{std::string(users), std::string(NextPart(text))});
  if (!found.ok()) {
    Require(found.error().code == Code::kNotFound && !found.error().message.empty());
    return 0;
  }
  Require(found->home.starts_with('/'));
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), number);
  const bool is_number = error == std::errc() && end == user.data() + user.size();
  if (is_number && users.find(':') == users.npos) Require(found->user == number);
  return 0;
}
