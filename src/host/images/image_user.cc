#include "host/images/image_user.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/text.h"
#include "host/images/image_errors.h"

namespace caip::host {
namespace {

constexpr size_t kTableBytesMax = 1 << 20;

// The file of one layer. A link never leads out of it. nullopt: the layer says nothing about it.
std::optional<std::string> ReadFromLayer(const Path& layer, const char* path) {
  const Fd root(::open(layer.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_IN_ROOT;
  const Fd file(static_cast<int>(::syscall(SYS_openat2, root.get(), path, &how, sizeof how)));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    // A whiteout cannot be opened: the file was deleted.
    const bool is_deleted =
        ::fstatat(root.get(), path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(status.st_mode);
    return is_deleted ? std::optional<std::string>("") : std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) return "";
  std::string text(std::min<size_t>(static_cast<size_t>(status.st_size), kTableBytesMax), '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

std::string ReadFromImage(const std::vector<Path>& layers, const char* path) {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (auto text = ReadFromLayer(*layer, path)) return *std::move(text);
  }
  return "";
}

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

// The line of /etc/passwd or /etc/group with that name or, in the third column, that number.
std::vector<std::string> FindLine(const std::string& table, const std::string& name) {
  for (const std::string& line : Split(table, '\n')) {
    std::vector<std::string> columns = Split(line, ':');
    if (columns.size() >= 3 && (columns[0] == name || columns[2] == name)) return columns;
  }
  return {};
}

}  // namespace

Result<ImageUser> FindImageUser(const std::string& user, const std::vector<Path>& layers) {
  const size_t colon = user.find(':');
  const std::string name = colon == 0 || user.empty() ? "0" : user.substr(0, colon);
  const std::string group = colon == std::string::npos ? "" : user.substr(colon + 1);
  ImageUser found;
  const auto line = FindLine(ReadFromImage(layers, "etc/passwd"), name);
  const auto number = ParseNumber(line.empty() ? name : line[2]);
  if (!number) return errors::UserNotInImage(name);
  found.user = *number;
  if (line.size() > 3) found.group = ParseNumber(line[3]).value_or(0);
  if (line.size() > 5 && line[5].starts_with('/')) found.home = line[5];
  if (line.empty() && found.user == 0) found.home = "/root";
  if (group.empty()) return found;
  const auto group_line = FindLine(ReadFromImage(layers, "etc/group"), group);
  const auto group_number = ParseNumber(group_line.empty() ? group : group_line[2]);
  if (!group_number) return errors::GroupNotInImage(group);
  found.group = *group_number;
  return found;
}

}  // namespace caip::host
