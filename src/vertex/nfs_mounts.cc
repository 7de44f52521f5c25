#include "vertex/nfs_mounts.h"

#include <linux/limits.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kNfsRoot = "/mnt/nfs/";
constexpr std::string_view kPathBegins = ":/";  // after the server, which may have colons

bool HoldsNul(std::string_view path) { return std::ranges::find(path, '\0') != path.end(); }

// The names in a path. nullopt: one leads upwards, or no file can have it.
std::optional<std::vector<std::string>> NamesIn(std::string_view path) {
  std::vector<std::string> names;
  if (HoldsNul(path) || path.size() >= PATH_MAX) return std::nullopt;
  for (std::string& name : Split(path, '/')) {
    if (name == "..") return std::nullopt;
    if (!name.empty() && name != ".") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::optional<std::string> NormalExport(std::string_view text) {
  const std::vector<std::string> words = Split(text, '/');
  std::string server = words.front();
  if (words.size() < 2 || server.size() < 2 || !server.ends_with(':')) return std::nullopt;
  const auto names = NamesIn(text.substr(server.size()));
  if (!names) return std::nullopt;
  return server + "/" + Join(*names, "/");
}

bool IsNfsPath(std::string_view path) { return path.starts_with('/') && NamesIn(path).has_value(); }

std::optional<std::string> DirectoryOf(const NfsMount& mount, const NfsExports& exports) {
  if (!IsNfsPath(mount.path)) return std::nullopt;
  std::vector<std::string> above = *NamesIn(mount.path);
  std::string below;
  while (true) {
    const auto found = exports.find(mount.server + std::string(kPathBegins) + Join(above, "/"));
    if (found != exports.end()) {
      const bool is_root = found->second == "/" && !below.empty();
      return (is_root ? "" : found->second) + below;
    }
    if (above.empty()) return std::nullopt;
    below = "/" + above.back() + below;
    above.pop_back();
  }
}

std::optional<std::string> PlaceOf(const NfsMount& mount) {
  std::string_view below = mount.mount_point;
  if (below.starts_with(kNfsRoot)) below.remove_prefix(kNfsRoot.size());
  if (below.starts_with('/')) return std::nullopt;
  const auto names = NamesIn(below);
  if (!names || names->empty()) return std::nullopt;
  return std::string(kNfsRoot) + Join(*names, "/");
}

std::optional<std::string> MountPlaces::Add(const std::string& place) {
  std::optional<std::string> other;
  for (size_t end = place.size(); !other && end != place.npos && end > 0;
       end = place.rfind('/', end - 1)) {
    const auto above = taken_.find(std::string_view(place).substr(0, end));
    if (above != taken_.end()) other = *above;
  }
  const auto below = taken_.lower_bound(place + "/");
  if (!other && below != taken_.end() && below->starts_with(place + "/")) other = *below;
  taken_.insert(place);
  return other;
}

}  // namespace caip::vertex
