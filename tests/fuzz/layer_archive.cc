// Any bytes are an archive of a layer, or an error with a reason. Its data stay inside of the sizes
// that it names, and no path of an entry has "..".

#include <cstdint>
#include <cstdlib>
#include <string_view>

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

void CheckPath(const std::string& path) {
  const auto clean = LayerPathOf(path);
  if (!clean.ok()) return Require(clean.error().reason == "layerInvalid");
  Require(!clean->starts_with('/') && !clean->ends_with('/'));
  Require(("/" + *clean + "/").find("/../") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  InputSource source(std::string_view(reinterpret_cast<const char*>(data), size));
  TarReader reader(source);
  while (true) {
    const auto entry = reader.Next();
    if (!entry.ok()) {
      Require(entry.error().reason == "archiveBroken");
      return 0;
    }
    if (*entry == nullptr) return 0;
    CheckPath((*entry)->path);
    CheckPath((*entry)->target);
    uint64_t end = 0;
    const Status read = reader.ReadData([&](std::string_view bytes, uint64_t offset) -> Status {
      Require(!bytes.empty() && offset >= end);
      end = offset + bytes.size();
      Require(end <= (*entry)->size);
      return Ok{};
    });
    if (!read.ok()) return 0;
  }
}
