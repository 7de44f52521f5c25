// Any bytes are an archive of a layer, or an error with a reason. Its data stay inside of the sizes
// that it names, and no path of an entry has "..". Compressed bytes are read as the store does.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/files.h"
#include "images/byte_source.h"
#include "images/layer_root.h"
#include "images/tar_reader.h"

namespace {

using namespace caip;
using namespace caip::images;

class InputSource : public ByteSource {
 public:
  explicit InputSource(std::string_view text) : text_(text) {}
  Result<std::string_view> Next() override {
    const std::string_view piece = text_.substr(0, 300);
    text_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view text_;
};

void Require(bool holds) {
  if (!holds) std::abort();
}

// Small inputs may have gigabytes when they are decompressed.
class BeginOfSource : public ByteSource {
 public:
  explicit BeginOfSource(ByteSource& source) : source_(source) {}
  Result<std::string_view> Next() override {
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Next());
    const std::string_view piece = bytes.substr(0, left_);
    left_ -= piece.size();
    return piece;
  }

 private:
  ByteSource& source_;
  size_t left_ = 1 << 20;
};

// The first bytes of gzip, zstd, xz and bzip2.
bool LooksCompressed(std::string_view text) {
  const std::string_view starts[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd",
                                     "\xfd"
                                     "7zXZ",
                                     "BZh"};
  return std::any_of(std::begin(starts), std::end(starts),
                     [text](std::string_view start) { return text.starts_with(start); });
}

void CheckPath(const std::string& path) {
  const auto clean = LayerPathOf(path);
  if (!clean.ok()) return Require(clean.error().reason == "layerInvalid");
  Require(!clean->starts_with('/') && !clean->ends_with('/'));
  Require(("/" + *clean + "/").find("/../") == std::string::npos);
}

void CheckArchive(ByteSource& source) {
  TarReader reader(source);
  while (true) {
    const auto entry = reader.Next();
    if (!entry.ok()) return Require(entry.error().reason == "archiveBroken");
    if (*entry == nullptr) return;
    CheckPath((*entry)->path);
    CheckPath((*entry)->target);
    uint64_t end = 0;
    const Status read = reader.ReadData([&](std::string_view bytes, uint64_t offset) -> Status {
      Require(!bytes.empty() && offset >= end);
      end = offset + bytes.size();
      Require(end <= (*entry)->size);
      return Ok{};
    });
    if (!read.ok()) return;
  }
}

void CheckCompressed(std::string_view text) {
  const Fd file(::memfd_create("layer", MFD_CLOEXEC));
  Require(WriteAll(file.get(), text) && ::lseek(file.get(), 0, SEEK_SET) == 0);
  const auto opened = DecompressedFile::Open(file.get());
  if (!opened.ok()) return Require(opened.error().reason == "archiveBroken");
  BeginOfSource begin(**opened);
  CheckArchive(begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  InputSource source(text);
  CheckArchive(source);
  if (LooksCompressed(text)) CheckCompressed(text);
  return 0;
}
