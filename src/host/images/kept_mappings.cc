#include "host/images/kept_mappings.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/json.h"
#include "host/images/image_errors.h"

namespace caip::host {
namespace {

constexpr size_t kMapBytesMax = 4 << 20;

// nullopt: the text is not one of Write's.
std::optional<ImageMap> ParseMap(const std::string& text) {
  const auto document = ParseJson(text);
  if (!document.ok() || !document->is_object()) return std::nullopt;
  ImageMap map;
  for (const auto& [uri, words] : document->items()) {
    std::vector<std::string>& entry = map[uri];
    for (const Json& word : words.is_array() ? words : Json::array()) {
      if (!word.is_string()) return std::nullopt;
      entry.push_back(word.get<std::string>());
    }
    if (uri.empty() || entry.empty() || entry.front().empty()) return std::nullopt;
  }
  return map;
}

}  // namespace

Result<ImageMap> KeptMappings::Read() const {
  const auto text = ReadFileUpTo(File(), kMapBytesMax);
  if (!text.ok() && text.error().code == Code::kNotFound) return ImageMap();
  if (!text.ok()) return text.error();
  auto map = ParseMap(*text);
  if (!map) return errors::MappingsDamaged(File().string());
  return *std::move(map);
}

Status KeptMappings::Set(const std::string& uri, const std::vector<std::string>& entry) {
  ASSIGN_OR_RETURN(const Fd lock, Lock());
  ASSIGN_OR_RETURN(ImageMap map, Read());
  map[uri] = entry;
  return Write(map);
}

Result<bool> KeptMappings::Unset(const std::string& uri) {
  ASSIGN_OR_RETURN(const Fd lock, Lock());
  ASSIGN_OR_RETURN(ImageMap map, Read());
  if (map.erase(uri) == 0) return false;
  RETURN_IF_ERROR(Write(map));
  return true;
}

Result<Fd> KeptMappings::Lock() const {
  RETURN_IF_ERROR(MakeDirectories(directory_));
  const Path file = directory_ / "map.lock";
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(file, errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return CannotLock(file, errno);
  }
  return lock;
}

Status KeptMappings::Write(const ImageMap& map) const {
  return WriteFileDurably(File(), CompactJson(Json(map)) + "\n", 0600);
}

}  // namespace caip::host
