#include "emulator/app/key_home.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace caip::app {
namespace {

namespace fs = std::filesystem;

// Renames stay whole when the process ends between two of them: the next start moves the rest.
Status MoveUnlessThere(const Path& from, const Path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return Ok{};
  if (!fs::exists(to, error)) {
    fs::rename(from, to, error);
    if (error) return SystemError("cannot move '" + from.string() + "'", error.value());
  }
  return Ok{};
}

Status TakeOver(const Path& old, const Path& keys) {
  RETURN_IF_ERROR(MoveUnlessThere(old / "hmac_keys.json", keys / "hmac_keys.json"));
  RETURN_IF_ERROR(MoveUnlessThere(old / "public_keys.json", keys / "public_keys.json"));
  RETURN_IF_ERROR(MoveUnlessThere(old / "signer.pem", keys / "service-account.pem"));
  RETURN_IF_ERROR(SyncDirectory(keys));
  std::error_code error;
  fs::remove(old / "signer.pem", error);
  fs::remove(old, error);  // stays where somebody put something else there
  return Ok{};
}

}  // namespace

Result<Path> OpenKeyHome(const Path& state) {
  const Path keys = state / "keys";
  RETURN_IF_ERROR(MakeDirectories(keys));
  if (::chmod(keys.c_str(), 0700) != 0) {
    return SystemError("cannot protect '" + keys.string() + "'", errno);
  }
  const Path old = state / "storage-keys";
  std::error_code ignored;
  if (fs::is_directory(old, ignored)) RETURN_IF_ERROR(TakeOver(old, keys));
  return keys;
}

}  // namespace caip::app
