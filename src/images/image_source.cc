#include "images/image_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "images/byte_source.h"
#include "images/errors.h"
#include "images/layer_root.h"
#include "images/tar_reader.h"

namespace caip::images {
namespace {

constexpr size_t kCopyBlock = 1 << 20;
constexpr uint64_t kArchiveEntriesMax = 100'000;
constexpr uint64_t kArchiveNamesMax = 64 << 20;  // their bytes, which are kept in memory
constexpr int kArchiveLinksMax = 8;
constexpr std::string_view kBlobFolder = "blobs/sha256/";

Result<BlobInfo> FinishImport(BlobUpload upload, const Digest* expected) {
  const uint64_t size = upload.offset();
  if (expected == nullptr) {
    ASSIGN_OR_RETURN(const Digest digest, upload.FinishAny());
    return BlobInfo{digest, size};
  }
  RETURN_IF_ERROR(upload.Finish(*expected));
  return BlobInfo{*expected, size};
}

class DirectoryFiles : public SourceFiles {
 public:
  DirectoryFiles(Path directory, BlobStore& blobs)
      : directory_(std::move(directory)), blobs_(blobs) {}

  bool Has(const std::string& name) override {
    std::error_code error;
    return std::filesystem::is_regular_file(directory_ / name, error);
  }
  Result<std::string> Read(const std::string& name, size_t limit) override {
    return ReadFileUpTo(directory_ / name, limit);
  }
  Result<BlobInfo> Store(const std::string& name, const Digest* expected) override {
    if (expected != nullptr && IsStored(*expected)) {
      ASSIGN_OR_RETURN(const uint64_t size, blobs_.Size(*expected));
      return BlobInfo{*expected, size};
    }
    const Path path = directory_ / name;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return CannotOpen(path, errno);
    ASSIGN_OR_RETURN(BlobUpload upload, blobs_.BeginOwn());
    const Status copied = Copy(file.get(), path, upload);
    if (!copied.ok()) {
      upload.Cancel();
      return copied.error();
    }
    return FinishImport(std::move(upload), expected);
  }

 private:
  // Many images may share a blob: it is read once.
  bool IsStored(const Digest& digest) {
    if (intact_.contains(digest)) return true;
    if (!blobs_.IsIntact(digest)) return false;
    intact_.insert(digest);
    return true;
  }

  static Status Copy(int file, const Path& path, BlobUpload& upload) {
    std::string block(kCopyBlock, '\0');
    while (true) {
      const ssize_t count = ::read(file, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return CannotRead(path, errno);
      if (count == 0) return Ok{};
      RETURN_IF_ERROR(upload.Append({block.data(), static_cast<size_t>(count)}));
    }
  }

  Path directory_;
  BlobStore& blobs_;
  std::set<Digest> intact_;  // blobs of the store whose bytes were checked
};

// Refuses more bytes than an archive may have when it is decompressed: also headers, which have no
// files.
class LimitedSource : public ByteSource {
 public:
  LimitedSource(ByteSource& source, uint64_t limit) : source_(source), limit_(limit) {}

  Result<std::string_view> Next() override {
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Next());
    total_ += bytes.size();
    if (total_ > limit_) return errors::ImageTooLarge(limit_);
    return bytes;
  }

 private:
  ByteSource& source_;
  const uint64_t limit_;
  uint64_t total_ = 0;
};

// All files of an archive are uploads when the object is made. A file becomes a blob, which is
// synced, when an image needs it: an image that is refused costs no syncs. The lock of the image
// store keeps other processes from removing the uploads.
class ArchiveFiles : public SourceFiles {
 public:
  ArchiveFiles(BlobStore& blobs, const UnpackLimits& limits) : blobs_(blobs), limits_(limits) {}
  ~ArchiveFiles() override {
    for (const auto& [path, member] : files_) Drop(member);
  }
  ArchiveFiles(const ArchiveFiles&) = delete;
  ArchiveFiles& operator=(const ArchiveFiles&) = delete;

  Status ReadAll(ByteSource& bytes) {
    LimitedSource limited(bytes, limits_.bytes);
    TarReader reader(limited);
    uint64_t total = 0;
    for (uint64_t count = 0;; ++count) {
      ASSIGN_OR_RETURN(const TarEntry* entry, reader.Next());
      if (entry == nullptr) break;
      if (count == kArchiveEntriesMax) return errors::ArchiveWithTooManyFiles(kArchiveEntriesMax);
      total += entry->size;
      if (entry->size > limits_.bytes || total > limits_.bytes) {
        return errors::ImageTooLarge(limits_.bytes);
      }
      RETURN_IF_ERROR(AddEntry(*entry, reader));
    }
    if (!reader.HasEnd()) return errors::ArchiveTruncated(!files_.empty());
    FindTop();
    return Ok{};
  }

  bool Has(const std::string& name) override { return Find(name) != nullptr; }
  Result<std::string> Read(const std::string& name, size_t limit) override {
    Member* found = Find(name);
    if (found == nullptr) return CannotOpen(name, ENOENT);
    RETURN_IF_ERROR(Keep(*found));
    return blobs_.Read(found->info.digest, limit);
  }
  Result<BlobInfo> Store(const std::string& name, const Digest* expected) override {
    Member* found = Find(name);
    if (found == nullptr) return CannotOpen(name, ENOENT);
    if (expected != nullptr && found->info.digest != *expected) {
      return errors::DigestMismatch(expected->text(), found->info.digest.text());
    }
    RETURN_IF_ERROR(Keep(*found));
    return found->info;
  }

 private:
  struct Member {
    BlobInfo info;
    std::string upload;  // "" when it is a blob
  };

  Status AddEntry(const TarEntry& entry, TarReader& reader) {
    ASSIGN_OR_RETURN(const std::string path, LayerPathOf(entry.path));
    names_ += path.size() + entry.target.size();
    if (names_ > kArchiveNamesMax) return errors::ArchiveNamesTooLong(kArchiveNamesMax);
    const bool is_link =
        entry.kind == EntryKind::kSymbolicLink || entry.kind == EntryKind::kHardLink;
    if (is_link) {
      const Path from = entry.kind == EntryKind::kHardLink ? Path() : Path(path).parent_path();
      links_[path] = (from / entry.target).lexically_normal().string();
    }
    if (entry.kind != EntryKind::kFile) return Ok{};
    ASSIGN_OR_RETURN(BlobUpload upload, blobs_.BeginOwn());
    const Status copied = reader.ReadData(
        [&upload](std::string_view bytes, uint64_t) { return upload.Append(bytes); });
    if (!copied.ok()) {
      upload.Cancel();
      return copied.error();
    }
    ASSIGN_OR_RETURN(const Digest digest, upload.DigestSoFar());
    if (const auto earlier = files_.find(path); earlier != files_.end()) Drop(earlier->second);
    files_.insert_or_assign(path, Member{{digest, upload.offset()}, upload.id()});
    const size_t folder = path.rfind(kBlobFolder);
    const auto named = Digest::ParseHex(
        folder == std::string::npos ? "" : path.substr(folder + kBlobFolder.size()));
    if (!named.ok() || *named == digest) return Ok{};
    return errors::DigestMismatch(named->text(), digest.text());
  }

  Status Keep(Member& member) {
    if (member.upload.empty()) return Ok{};
    ASSIGN_OR_RETURN(BlobUpload upload, blobs_.Resume(member.upload));
    RETURN_IF_ERROR(upload.Finish(member.info.digest));
    member.upload.clear();
    return Ok{};
  }

  void Drop(const Member& member) {
    if (member.upload.empty()) return;
    if (auto upload = blobs_.Resume(member.upload); upload.ok()) upload->Cancel();
  }

  // An archive of a directory, made from outside of it, has all files below one name.
  void FindTop() {
    for (const char* name : {"index.json", "manifest.json"}) {
      if (files_.contains(name)) return;
    }
    for (const auto& [path, member] : files_) {
      const Path file(path);
      if (file.filename() != "index.json" && file.filename() != "manifest.json") continue;
      top_ = file.parent_path().string() + "/";
      return;
    }
  }

  Member* Find(const std::string& name) {
    std::string path = top_ + name;
    for (int links = 0; links < kArchiveLinksMax; ++links) {
      if (const auto found = files_.find(path); found != files_.end()) return &found->second;
      const auto link = links_.find(path);
      if (link == links_.end()) break;
      path = link->second;
    }
    return nullptr;
  }

  BlobStore& blobs_;
  const UnpackLimits limits_;
  uint64_t names_ = 0;  // the bytes of the names of all entries
  std::string top_;     // "" or "directory/"
  std::map<std::string, Member> files_;
  std::map<std::string, std::string> links_;
};

Result<Fd> OpenArchive(const ImageSource& source) {
  if (source.IsStandardInput()) {
    if (::isatty(STDIN_FILENO)) return errors::StandardInputIsTerminal();
    return Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  Fd file(::open(source.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errors::CannotOpenSource(source.path, errno);
  return file;
}

}  // namespace

// A path may have a colon: the longest one that exists is meant.
ImageSource ImageSource::Parse(std::string_view text) {
  for (const std::string_view word : {"oci:", "oci-archive:", "docker-archive:"}) {
    if (!text.starts_with(word)) continue;
    const std::string rest(text.substr(word.size()));
    std::error_code error;
    for (size_t end = rest.size(); end != std::string::npos && end > 0;
         end = rest.rfind(':', end - 1)) {
      const std::string tag = end == rest.size() ? "" : rest.substr(end + 1);
      if (std::filesystem::exists(rest.substr(0, end), error)) return {rest.substr(0, end), tag};
    }
    const size_t colon = std::min(rest.find(':'), rest.size());
    return {rest.substr(0, colon), rest.substr(std::min(colon + 1, rest.size()))};
  }
  return {Path(text)};
}

std::string ImageSource::text() const {
  return IsStandardInput() ? "the standard input" : path.string();
}

Result<std::unique_ptr<SourceFiles>> OpenSource(const ImageSource& source, BlobStore& blobs,
                                                const UnpackLimits& limits) {
  std::error_code error;
  if (!source.IsStandardInput() && std::filesystem::is_directory(source.path, error)) {
    return std::unique_ptr<SourceFiles>(std::make_unique<DirectoryFiles>(source.path, blobs));
  }
  ASSIGN_OR_RETURN(const Fd file, OpenArchive(source));
  ASSIGN_OR_RETURN(const auto bytes, DecompressedFile::Open(file.get()));
  auto files = std::make_unique<ArchiveFiles>(blobs, limits);
  RETURN_IF_ERROR(files->ReadAll(*bytes));
  return std::unique_ptr<SourceFiles>(std::move(files));
}

}  // namespace caip::images
