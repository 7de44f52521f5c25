#include "fakes/gcs/directory_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fakes/gcs/checksums.h"
#include "fakes/gcs/directory_writer.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/listing_page.h"
#include "fakes/gcs/names.h"
#include "fakes/gcs/object_path.h"
#include "fakes/gcs/preconditions.h"

namespace caip::gcs {
namespace {

constexpr const char* kTemporary = ".caip-tmp";  // no bucket's name begins with a dot
constexpr const char* kUnknownType = "application/octet-stream";
constexpr int kHashTries = 3;

Result<Fd> OpenDirectory(const Path& path) {
  RETURN_IF_ERROR(MakeDirectories(path));
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("cannot open '" + path.string() + "'", errno);
  return fd;
}

void RemoveLeftovers(const Path& temporary) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(temporary, ignored)) {
    ::unlink(entry.path().c_str());
  }
}

class FileReader final : public ObjectReader {
 public:
  FileReader(Fd fd, ObjectInfo info) : fd_(std::move(fd)), info_(std::move(info)) {}
  const ObjectInfo& info() const override { return info_; }
  Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) override {
    if (offset >= info_.size) return size_t{0};
    size = static_cast<size_t>(std::min<uint64_t>(size, info_.size - offset));
    while (true) {
      const ssize_t count = ::pread(fd_.get(), buffer, size, static_cast<off_t>(offset));
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return SystemError("cannot read object '" + info_.name + "'", errno);
    }
  }

 private:
  Fd fd_;
  ObjectInfo info_;
};

}  // namespace

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::Open(DirectoryStoreOptions options,
                                                             const Clock& clock) {
  ASSIGN_OR_RETURN(Fd root, OpenDirectory(options.root));
  ASSIGN_OR_RETURN(Fd temporary, OpenDirectory(options.root / kTemporary));
  RemoveLeftovers(options.root / kTemporary);
  Path side_file = options.root;
  side_file += ".db";
  ASSIGN_OR_RETURN(auto side, SideStore::Open(side_file, options.durable));
  return std::unique_ptr<DirectoryStore>(new DirectoryStore(
      std::move(options), clock, std::move(root), std::move(temporary), std::move(side)));
}

DirectoryStore::DirectoryStore(DirectoryStoreOptions options, const Clock& clock, Fd root,
                               Fd temporary, std::unique_ptr<SideStore> side)
    : options_(std::move(options)),
      clock_(clock),
      root_(std::move(root)),
      temporary_(std::move(temporary)),
      side_(std::move(side)) {}

std::mutex& DirectoryStore::LockOf(const std::string& bucket) const {
  return locks_[std::hash<std::string>()(bucket) % locks_.size()];
}

Result<BucketTree> DirectoryStore::OpenBucket(const std::string& name) const {
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  Fd directory = OpenBeneath(root_.get(), name, O_RDONLY | O_DIRECTORY);
  if (directory.valid()) return BucketTree(std::move(directory), name);
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return errors::BucketNotFound(name);
  return SystemError("cannot open bucket '" + name + "'", errno);
}

// A directory made by hand is a bucket from the first look on.
Bucket DirectoryStore::BucketRecord(const std::string& name) const {
  if (auto known = side_->FindBucket(name)) return *known;
  Bucket bucket;
  bucket.name = name;
  bucket.time_created = bucket.updated = clock_.Now();
  side_->StageBucket(bucket);
  return bucket;
}

Result<Bucket> DirectoryStore::CreateBucket(const std::string& name) {
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  Bucket bucket;
  {
    const std::lock_guard lock(LockOf(name));
    if (::mkdirat(root_.get(), name.c_str(), 0777) != 0) {
      if (errno == EEXIST) return errors::BucketExists(name);
      return SystemError("cannot make bucket '" + name + "'", errno);
    }
    side_->StageBucketRemoval(name);  // a bucket of that name that was removed by hand
    bucket.name = name;
    bucket.time_created = bucket.updated = clock_.Now();
  }
  RETURN_IF_ERROR(side_->Flush());
  side_->StageBucket(bucket);
  if (options_.durable && ::fsync(root_.get()) != 0) {
    return SystemError("cannot sync the buckets' directory", errno);
  }
  RETURN_IF_ERROR(side_->Flush());
  return bucket;
}

Result<Bucket> DirectoryStore::GetBucket(const std::string& name) const {
  Bucket bucket;
  {
    const std::lock_guard lock(LockOf(name));
    RETURN_IF_ERROR(OpenBucket(name));
    bucket = BucketRecord(name);
  }
  return bucket;
}

std::vector<Bucket> DirectoryStore::ListBuckets() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(options_.root, ignored)) {
    const std::string name = entry.path().filename();
    if (!BucketNameProblem(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<Bucket> buckets;
  for (const std::string& name : names) {
    auto bucket = GetBucket(name);
    if (bucket.ok()) buckets.push_back(std::move(*bucket));
  }
  return buckets;
}

Result<Bucket> DirectoryStore::UpdateBucket(const Bucket& wanted) {
  Bucket bucket;
  {
    const std::lock_guard lock(LockOf(wanted.name));
    RETURN_IF_ERROR(OpenBucket(wanted.name));
    bucket = BucketRecord(wanted.name);
    bucket.location = wanted.location;
    bucket.storage_class = wanted.storage_class;
    bucket.labels = wanted.labels;
    bucket.updated = clock_.Now();
    ++bucket.metageneration;
    side_->StageBucket(bucket);
  }
  RETURN_IF_ERROR(side_->Flush());
  return bucket;
}

Status DirectoryStore::DeleteBucket(const std::string& name) {
  {
    const std::lock_guard lock(LockOf(name));
    ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(name));
    ListQuery any;
    any.max_results = 1;
    ListingPage page(any, "");
    WalkTree(tree.fd(), cache_, page);
    if (!page.entries().empty()) return errors::BucketNotEmpty(name);
    if (!tree.RemoveEmptyDirectories()) return errors::BucketHoldsStrangers(name);
    if (::unlinkat(root_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
      return SystemError("cannot remove bucket '" + name + "'", errno);
    }
    side_->StageBucketRemoval(name);
  }
  if (options_.durable && ::fsync(root_.get()) != 0) {
    return SystemError("cannot sync the buckets' directory", errno);
  }
  return side_->Flush();
}

Path DirectoryStore::PathOf(const std::string& bucket, const std::string& object) const {
  const std::string_view name = object;
  const Path directory = options_.root / bucket;
  if (name.empty()) return directory;
  return directory / PlainPath(name.ends_with('/') ? name.substr(0, name.size() - 1) : name);
}

// A file that nobody announced, or that is not what it was: an object whose generation begins now.
ObjectRecord DirectoryStore::Adopt(const std::string& bucket, const std::string& name,
                                   const FileIdentity& file) const {
  ObjectRecord record;
  record.file = file;
  record.info.bucket = bucket;
  record.info.name = name;
  record.info.size = file.size;
  record.info.content_type = kUnknownType;
  record.info.generation = side_->NextGeneration(clock_.Now());
  record.info.time_created = record.info.updated = Instant(Duration(file.modified_ns));
  side_->StageObject(record);
  return record;
}

Result<DirectoryStore::Found> DirectoryStore::FindLocked(const BucketTree& tree,
                                                         const std::string& name) const {
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  ASSIGN_OR_RETURN(OpenFile file, tree.Open(name));
  auto record = side_->FindObject(tree.bucket(), name);
  const bool changed = !record || record->file != file.identity;
  if (changed) record = Adopt(tree.bucket(), name, file.identity);
  return Found{std::move(file), std::move(*record), changed};
}

Result<DirectoryStore::Found> DirectoryStore::Find(const std::string& bucket,
                                                   const std::string& name, bool hashed) const {
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
  std::unique_lock lock(LockOf(bucket));
  auto found = FindLocked(tree, name);
  lock.unlock();
  if (!found.ok() || !hashed || found->record.hashed) return found;
  return FindHashed(bucket, name, std::move(*found));
}

// Sums are computed without the lock, so a file may change under our eyes: then look again.
Result<DirectoryStore::Found> DirectoryStore::FindHashed(const std::string& bucket,
                                                         const std::string& name,
                                                         Found found) const {
  for (int tries = 1; !found.record.hashed; ++tries) {
    ASSIGN_OR_RETURN(Hashes hashes, HashFile(found.file.fd.get()));
    ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
    const std::lock_guard lock(LockOf(bucket));
    ASSIGN_OR_RETURN(Found now, FindLocked(tree, name));
    const bool same = now.record.info.generation == found.record.info.generation;
    if (!now.record.hashed && (same || tries == kHashTries)) {
      now.record.info.md5 = std::move(hashes.md5);
      now.record.info.crc32c = hashes.crc32c;
      now.record.hashed = true;
      if (same) side_->StageObject(now.record);  // else it changes faster than we read
    }
    found = std::move(now);
    found.staged = true;
  }
  return found;
}

Result<std::unique_ptr<ObjectWriter>> DirectoryStore::NewObject(const std::string& bucket,
                                                                const std::string& name) {
  auto tree = OpenBucket(bucket);
  if (!tree.ok() && tree.error().code == Code::kNotFound && options_.create_buckets) {
    const auto made = CreateBucket(bucket);
    if (!made.ok() && made.error().code != Code::kAlreadyExists) return made.error();
    tree = OpenBucket(bucket);
  }
  if (!tree.ok()) return tree.error();
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  return DirectoryWriter::Start(*this, bucket, name);
}

Result<ObjectInfo> DirectoryStore::Commit(const std::string& temporary, ObjectInfo info,
                                          const Preconditions& preconditions) {
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(info.bucket));
  std::vector<std::string> touched;
  {
    const std::lock_guard lock(LockOf(info.bucket));
    const auto live = FindLocked(tree, info.name);
    if (!live.ok() && live.error().code != Code::kNotFound) return live.error();
    RETURN_IF_ERROR(CheckPreconditions(preconditions, live.ok() ? &live->record.info : nullptr));
    ObjectRecord record;
    ASSIGN_OR_RETURN(record.file, tree.Place(temporary_.get(), temporary, info.name, &touched));
    info.generation = side_->NextGeneration(clock_.Now());
    info.metageneration = 1;
    info.time_created = info.updated = clock_.Now();
    if (info.content_type.empty()) info.content_type = kUnknownType;
    record.info = info;
    record.hashed = true;
    side_->StageObject(record);
  }
  if (options_.durable) RETURN_IF_ERROR(tree.Sync(touched));
  RETURN_IF_ERROR(side_->Flush());
  return info;
}

Result<ObjectInfo> DirectoryStore::GetObject(const std::string& bucket,
                                             const std::string& name) const {
  ASSIGN_OR_RETURN(Found found, Find(bucket, name, true));
  if (found.staged) RETURN_IF_ERROR(side_->Flush());
  return std::move(found.record.info);
}

Result<std::unique_ptr<ObjectReader>> DirectoryStore::OpenObject(const std::string& bucket,
                                                                 const std::string& name) const {
  ASSIGN_OR_RETURN(Found found, Find(bucket, name, true));
  if (found.staged) RETURN_IF_ERROR(side_->Flush());
  return std::unique_ptr<ObjectReader>(
      std::make_unique<FileReader>(std::move(found.file.fd), std::move(found.record.info)));
}

Result<Listing> DirectoryStore::List(const std::string& bucket, const ListQuery& query) const {
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
  ASSIGN_OR_RETURN(std::string from, ParsePageToken(query.page_token));
  ListingPage page(query, std::move(from));
  Listing listing;
  std::vector<size_t> unhashed;
  {
    const std::lock_guard lock(LockOf(bucket));
    WalkTree(tree.fd(), cache_, page);
    for (const PageEntry& entry : page.entries()) {
      if (entry.is_prefix) {
        listing.prefixes.push_back(entry.name);
        continue;
      }
      auto found = FindLocked(tree, entry.name);
      if (!found.ok()) continue;  // gone by hand since
      if (!found->record.hashed) unhashed.push_back(listing.items.size());
      listing.items.push_back(std::move(found->record.info));
    }
    listing.next_page_token = page.NextPageToken();
  }
  for (const size_t index : unhashed) {
    if (!query.with_hashes) break;
    auto hashed = Find(bucket, listing.items[index].name, true);
    if (hashed.ok()) listing.items[index] = std::move(hashed->record.info);
  }
  if (!unhashed.empty()) RETURN_IF_ERROR(side_->Flush());
  return listing;
}

Status DirectoryStore::DeleteObject(const std::string& bucket, const std::string& name,
                                    const Preconditions& preconditions) {
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(bucket));
  std::vector<std::string> touched;
  {
    const std::lock_guard lock(LockOf(bucket));
    ASSIGN_OR_RETURN(const Found live, FindLocked(tree, name));
    RETURN_IF_ERROR(CheckPreconditions(preconditions, &live.record.info));
    RETURN_IF_ERROR(tree.Remove(name, &touched));
    side_->StageRemoval(bucket, name);
  }
  if (options_.durable) RETURN_IF_ERROR(tree.Sync(touched));
  return side_->Flush();
}

Result<ObjectInfo> DirectoryStore::UpdateObject(const ObjectInfo& wanted,
                                                const Preconditions& preconditions) {
  ASSIGN_OR_RETURN(Found hashed, Find(wanted.bucket, wanted.name, true));
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(wanted.bucket));
  ObjectRecord record;
  {
    const std::lock_guard lock(LockOf(wanted.bucket));
    ASSIGN_OR_RETURN(Found live, FindLocked(tree, wanted.name));
    record = std::move(live.record);
    if (wanted.generation != 0 && wanted.generation != record.info.generation) {
      return errors::ObjectNotFound(wanted.bucket, wanted.name);
    }
    RETURN_IF_ERROR(CheckPreconditions(preconditions, &record.info));
    record.info.content_type = wanted.content_type;
    record.info.content_encoding = wanted.content_encoding;
    record.info.content_disposition = wanted.content_disposition;
    record.info.content_language = wanted.content_language;
    record.info.cache_control = wanted.cache_control;
    record.info.custom_time = wanted.custom_time;
    record.info.storage_class = wanted.storage_class;
    record.info.metadata = wanted.metadata;
    record.info.updated = clock_.Now();
    ++record.info.metageneration;
    side_->StageObject(record);
  }
  RETURN_IF_ERROR(side_->Flush());
  return record.info;
}

}  // namespace caip::gcs
