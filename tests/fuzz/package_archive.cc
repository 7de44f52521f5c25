// Any bytes are a Python package or an error, and any text is a pyproject.toml. No member of a
// package that passed the check has a name that leads out of its directory. The first byte of an
// input selects which of the two it is.

#include "host/python/package_archive.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace {

using namespace caip;

constexpr host::ArchiveLimits kLimits{.bytes = 1 << 20, .members = 1000};

void Require(bool holds) {
  if (!holds) std::abort();
}

// A file in memory, which has a name for the time of one input.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("package", MFD_CLOEXEC)) {
    Require(::write(file_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  Path path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  const Fd file_;
};

bool IsInside(const std::string& name) {
  const auto parts = Split(name, '/');
  const auto ups = std::ranges::count(parts, "..");
  const auto downs = std::ranges::count_if(
      parts, [](const std::string& part) { return part != ".." && part != "." && !part.empty(); });
  return !name.starts_with('/') && ups <= downs;
}

void CheckRequires(const std::vector<std::string>& names) {
  Require(!names.empty());
  for (const std::string& name : names) Require(name == LowerCase(name));
}

void CheckPackage(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto facts = host::CheckArchive(file.path(), kLimits);
  if (!facts.ok()) {
    Require(!facts.error().message.empty());
    return;
  }
  if (facts->has_pyproject) CheckRequires(facts->build_requires);
  const auto files = host::ReadArchive(file.path(), kLimits.bytes);
  if (!files.ok()) return;
  for (const auto& [name, entry] : *files) {
    Require(IsInside(name) && entry.bytes.size() <= kLimits.bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    CheckPackage(rest);
  } else {
    CheckRequires(host::BuildRequires(rest));
  }
  return 0;
}
