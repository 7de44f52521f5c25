#include "host/machine/overlays.h"

#include <sys/xattr.h>

#include <cerrno>

#include "base/encoding.h"
#include "host/errors.h"
#include "host/launcher/protocol.h"

namespace caip::host {
namespace {

// The overlay takes a directory of its upper layer with this attribute for the whole directory. A
// user without rights over the host must use the second name.
constexpr char kOpaque[] = "trusted.overlay.opaque";
constexpr char kUserOpaque[] = "user.overlay.opaque";
constexpr char kTrialAttribute[] = "trusted.caip";

// Commas and colons separate the options of an overlay.
std::string Escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == '\\' || c == ',' || c == ':') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

std::string LayerName(const std::string& directory) { return PercentEncoded(directory.substr(1)); }

Status MakeOpaque(const Path& directory) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  for (const char* name : {kOpaque, kUserOpaque}) {
    if (::setxattr(directory.c_str(), name, "y", 1, 0) == 0) return Ok{};
  }
  return errors::CannotHideDirectory(directory, errno);
}

bool HasRights(const Path& boot_disk) {
  return ::setxattr((boot_disk / kChanges).c_str(), kTrialAttribute, "y", 1, 0) == 0;
}

bool HadRights(const Path& boot_disk) {
  char value = 0;
  return ::getxattr((boot_disk / kChanges).c_str(), kTrialAttribute, &value, 1) == 1;
}

namespace {

std::string OptionsOfUpper(const Path& upper, const Path& work) {
  return ",upperdir=" + Escaped(upper.string()) + ",workdir=" + Escaped(work.string());
}

}  // namespace

std::string OverlayOptions(const std::string& lower, const Path& upper, const Path& work) {
  return "lowerdir=" + Escaped(lower) + OptionsOfUpper(upper, work);
}

// The kernel reads attributes of the directories in all layers but the last, which it may not do in
// a directory that the user cannot read.
std::string ReadOnlyOverlayOptions(const std::string& lower) {
  return "lowerdir=" + std::string(launcher::kEmptyLayer) + ":" + Escaped(lower);
}

std::string OverlayOptions(const Path& middle, const std::string& lower, const Path& upper,
                           const Path& work) {
  return "lowerdir=" + Escaped(middle.string()) + ":" + Escaped(lower) +
         OptionsOfUpper(upper, work) + ",xino=on";
}

}  // namespace caip::host
