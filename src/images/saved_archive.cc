#include "images/saved_archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/errors.h"
#include "base/json.h"

namespace caip::images {
namespace {

constexpr size_t kSavedBlock = 512;
constexpr size_t kSavedCopyBytes = 1 << 20;
constexpr uint64_t kOctalSizeMax = 077777777777;  // larger ones are written in base 256

/// One archive that is being written. Its members are plain files (POSIX, pax, "ustar").
class SavedArchive {
 public:
  static Result<SavedArchive> Create(const Path& path) {
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid()) return CannotOpen(path, errno);
    return SavedArchive(path, std::move(file));
  }

  Status AddText(const std::string& name, std::string_view bytes) {
    RETURN_IF_ERROR(Write(HeaderOf(name, bytes.size())));
    RETURN_IF_ERROR(Write(bytes));
    return Pad(bytes.size());
  }

  Status AddBlob(const std::string& name, BlobStore& blobs, const Digest& digest) {
    ASSIGN_OR_RETURN(const uint64_t size, blobs.Size(digest));
    ASSIGN_OR_RETURN(const Fd blob, blobs.OpenBlob(digest));
    RETURN_IF_ERROR(Write(HeaderOf(name, size)));
    std::string piece(kSavedCopyBytes, '\0');
    for (uint64_t left = size; left > 0;) {
      const ssize_t count = ::read(blob.get(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return CannotRead(path_, count < 0 ? errno : EIO);
      RETURN_IF_ERROR(Write({piece.data(), static_cast<size_t>(count)}));
      left -= static_cast<uint64_t>(count);
    }
    return Pad(size);
  }

  Status Finish() { return Write(std::string(2 * kSavedBlock, '\0')); }

 private:
  SavedArchive(Path path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

  // `name` has less than 100 bytes.
  static std::string HeaderOf(const std::string& name, uint64_t size) {
    std::string header(kSavedBlock, '\0');
    const auto put = [&header](size_t at, std::string_view text) {
      std::memcpy(header.data() + at, text.data(), text.size());
    };
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    PutSize(size, header.data() + 124);
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string_view("ustar\0"
                              "00",
                              8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%06o", sum);
    put(148, {text.data(), 7});
    return header;
  }

  static void PutSize(uint64_t size, char* field) {
    if (size <= kOctalSizeMax) {
      std::snprintf(field, 12, "%011llo", static_cast<unsigned long long>(size));
      return;
    }
    field[0] = static_cast<char>(0x80);
    for (int i = 11; i > 3; --i, size >>= 8) field[i] = static_cast<char>(size & 0xff);
  }

  Status Pad(uint64_t size) {
    return Write(std::string((kSavedBlock - size % kSavedBlock) % kSavedBlock, '\0'));
  }
  Status Write(std::string_view bytes) {
    if (!WriteAll(file_.get(), bytes)) return CannotWrite(path_, errno);
    return Ok{};
  }

  Path path_;
  Fd file_;
};

}  // namespace

Status WriteSavedArchive(const ImageManifest& manifest, const std::string& name, BlobStore& blobs,
                         const Path& file) {
  ASSIGN_OR_RETURN(SavedArchive archive, SavedArchive::Create(file));
  const std::string config = manifest.config->digest.hex() + ".json";
  Json layers = Json::array();
  std::set<Digest> written;
  for (const Descriptor& layer : manifest.layers) {
    const std::string member = layer.digest.hex() + ".tar";
    layers.push_back(member);
    if (!written.insert(layer.digest).second) continue;
    RETURN_IF_ERROR(archive.AddBlob(member, blobs, layer.digest));
  }
  RETURN_IF_ERROR(archive.AddBlob(config, blobs, manifest.config->digest));
  Json image = {{"Config", config}, {"RepoTags", Json::array({name})}, {"Layers", layers}};
  RETURN_IF_ERROR(archive.AddText("manifest.json", CompactJson(Json::array({image}))));
  return archive.Finish();
}

}  // namespace caip::images
