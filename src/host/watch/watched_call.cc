#include "host/watch/watched_call.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace caip::host {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

std::optional<FileId> IdentifyFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::string WatchedCall::Proc(const std::string& rest) const {
  return "/proc/" + std::to_string(facts_.thread) + "/" + rest;
}

std::optional<FileId> WatchedCall::Identify(int descriptor) const {
  return IdentifyFile(Proc("fd/" + std::to_string(descriptor)));
}

std::optional<std::string> WatchedCall::Read(uint64_t address, size_t bytes) const {
  std::string text(bytes, '\0');
  iovec ours{text.data(), bytes};
  iovec theirs{reinterpret_cast<void*>(address), bytes};
  const ssize_t count = ::process_vm_readv(thread(), &ours, 1, &theirs, 1, 0);
  if (count != static_cast<ssize_t>(bytes)) return std::nullopt;
  return text;
}

std::optional<std::string> WatchedCall::ReadText(uint64_t address) const {
  std::string text;
  while (text.size() < PATH_MAX) {  // page by page: what follows the text may be no memory
    const auto part = Read(address + text.size(), kPage - (address + text.size()) % kPage);
    if (!part) return std::nullopt;
    const size_t end = part->find('\0');
    text.append(*part, 0, end);
    if (end != std::string::npos) return text;
  }
  return std::nullopt;
}

std::vector<iovec> WatchedCall::Buffers() const {
  if (number() != SYS_writev) {
    return {{reinterpret_cast<void*>(argument(1)), argument(2)}};
  }
  const uint64_t count = argument(2);
  if (count == 0 || count > IOV_MAX) return {};
  const auto bytes = Read(argument(1), count * sizeof(iovec));
  if (!bytes) return {};
  std::vector<iovec> buffers(count);
  std::memcpy(buffers.data(), bytes->data(), bytes->size());
  return buffers;
}

bool WatchedCall::Write(uint64_t address, const std::string& bytes) const {
  iovec ours{const_cast<char*>(bytes.data()), bytes.size()};
  iovec theirs{reinterpret_cast<void*>(address), bytes.size()};
  const ssize_t count = ::process_vm_writev(thread(), &ours, 1, &theirs, 1, 0);
  return count == static_cast<ssize_t>(bytes.size());
}

}  // namespace caip::host
