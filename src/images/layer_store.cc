#include "images/layer_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "images/byte_source.h"
#include "images/errors.h"
#include "images/layer_root.h"
#include "images/tar_reader.h"

namespace caip::images {
namespace {

constexpr char kLock[] = ".lock";
constexpr char kPartial[] = ".partial";
constexpr char kRemarks[] = ".remarks";
constexpr size_t kRemarksBytesMax = 64 << 10;

std::vector<std::string> RemarksIn(const Path& file) {
  std::vector<std::string> remarks;
  const auto text = ReadFileUpTo(file, kRemarksBytesMax);
  if (!text.ok()) return remarks;
  for (std::string& line : Split(*text, '\n')) {
    if (!line.empty()) remarks.push_back(std::move(line));
  }
  return remarks;
}

std::string RemarkLines(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += ReplaceAll(remark, "\n", " ") + "\n";
  return text;
}

}  // namespace

Result<std::unique_ptr<LayerStore>> LayerStore::Open(Path directory, UnpackLimits limits) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return CannotOpen(directory, errno);
  return std::unique_ptr<LayerStore>(
      new LayerStore(std::move(directory), limits, std::move(opened)));
}

bool LayerStore::Has(const Digest& diff_id) const {
  struct stat status {};
  return ::fstatat(opened_.get(), diff_id.hex().c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

// `kind` as for flock. With LOCK_NB, kAborted if the lock is taken. The one who removes a layer
// removes the lock file, too; then those who waited take the new one.
Result<Fd> LayerStore::Lock(const Digest& diff_id, int kind) const {
  const std::string name = diff_id.hex() + kLock;
  const Path path = directory_ / name;
  while (true) {
    Fd lock(::openat(opened_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid()) return CannotOpen(path, errno);
    while (::flock(lock.get(), kind) != 0) {
      if (errno == EWOULDBLOCK) return errors::LayerInUse(diff_id.text());
      if (errno != EINTR) return CannotLock(path, errno);
    }
    struct stat status {};
    if (::fstat(lock.get(), &status) == 0 && status.st_nlink > 0) return lock;
  }
}

bool LayerStore::IsInUse(const Digest& diff_id) const {
  const std::string name = diff_id.hex() + kLock;
  const Fd lock(::openat(opened_.get(), name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

Result<UnpackedLayer> LayerStore::Unpack(const BlobStore& blobs, const Digest& blob,
                                         const Digest& diff_id, const std::stop_token& stop) {
  while (true) {
    ASSIGN_OR_RETURN(Fd reading, Lock(diff_id, LOCK_SH));
    if (Has(diff_id)) {
      return UnpackedLayer{directory_ / diff_id.hex(),
                           RemarksIn(directory_ / (diff_id.hex() + kRemarks)), std::move(reading)};
    }
    reading.Close();
    ASSIGN_OR_RETURN(const Fd writing, Lock(diff_id, LOCK_EX));
    if (Has(diff_id)) continue;
    ASSIGN_OR_RETURN(const Fd file, blobs.OpenBlob(blob));
    RETURN_IF_ERROR(UnpackFile(file, diff_id, stop));
  }
}

// Wants the lock for writing.
Status LayerStore::UnpackFile(const Fd& file, const Digest& diff_id, const std::stop_token& stop) {
  const std::string partial = diff_id.hex() + kPartial;
  RETURN_IF_ERROR(RemoveTreeAt(opened_.get(), partial));
  const auto remarks = WritePartial(file, diff_id, partial, stop);
  if (!remarks.ok()) {
    (void)RemoveTreeAt(opened_.get(), partial);
    return remarks.error();
  }
  const Path remarks_file = directory_ / (diff_id.hex() + kRemarks);
  RETURN_IF_ERROR(WriteFileDurably(remarks_file, RemarkLines(*remarks)));
  if (::renameat(opened_.get(), partial.c_str(), opened_.get(), diff_id.hex().c_str()) != 0) {
    return CannotRename(directory_ / diff_id.hex(), errno);
  }
  return SyncDirectory(directory_);
}

// The digest is computed from the same bytes that are unpacked.
Result<std::vector<std::string>> LayerStore::WritePartial(const Fd& file, const Digest& diff_id,
                                                          const std::string& partial,
                                                          const std::stop_token& stop) {
  if (::mkdirat(opened_.get(), partial.c_str(), 0755) != 0) {
    return CannotMakeDirectory(directory_ / partial, errno);
  }
  Fd opened(::openat(opened_.get(), partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return CannotOpen(directory_ / partial, errno);
  LayerRoot root(std::move(opened));
  ASSIGN_OR_RETURN(const auto bytes, DecompressedFile::Open(file.get()));
  HashedSource hashed(*bytes, limits_.bytes, stop);
  TarReader reader(hashed);
  LayerWriter writer(root, limits_);
  while (true) {
    ASSIGN_OR_RETURN(const TarEntry* entry, reader.Next());
    if (entry == nullptr) break;
    RETURN_IF_ERROR(writer.Add(*entry, reader));
  }
  ASSIGN_OR_RETURN(const Digest digest, hashed.Finish());
  if (digest != diff_id) return errors::LayerMismatch(diff_id.text(), digest.text());
  RETURN_IF_ERROR(writer.Finish());
  if (::syncfs(root.root()) != 0) return CannotSync(directory_ / partial, errno);
  return writer.Remarks();
}

Result<bool> LayerStore::RemoveUnlessUsed(const Digest& diff_id) {
  const auto lock = Lock(diff_id, LOCK_EX | LOCK_NB);
  if (!lock.ok() && lock.error().code == Code::kAborted) return false;
  if (!lock.ok()) return lock.error();
  const bool is_layer = Has(diff_id);
  const std::string partial = diff_id.hex() + kPartial;
  // A layer without some of its files must not look complete.
  if (is_layer) {
    RETURN_IF_ERROR(RemoveTreeAt(opened_.get(), partial));
    if (::renameat(opened_.get(), diff_id.hex().c_str(), opened_.get(), partial.c_str()) != 0) {
      return CannotRename(directory_ / partial, errno);
    }
  }
  RETURN_IF_ERROR(RemoveTreeAt(opened_.get(), partial));
  ::unlinkat(opened_.get(), (diff_id.hex() + kRemarks).c_str(), 0);
  ::unlinkat(opened_.get(), (diff_id.hex() + kLock).c_str(), 0);
  return is_layer;
}

Result<size_t> LayerStore::RemoveOthers(const std::set<Digest>& needed) {
  std::set<Digest> others;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const auto diff_id = Digest::ParseHex(at->path().stem().string());
    if (!diff_id.ok()) continue;
    const bool is_partial = at->path().extension() == kPartial;
    if (is_partial || !needed.contains(*diff_id)) others.insert(*diff_id);
  }
  size_t removed = 0;
  for (const Digest& diff_id : others) {
    if (Has(diff_id) && needed.contains(diff_id)) continue;
    ASSIGN_OR_RETURN(const bool was_removed, RemoveUnlessUsed(diff_id));
    removed += was_removed;
  }
  return removed;
}

}  // namespace caip::images
