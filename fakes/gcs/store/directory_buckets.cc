// The directory store's buckets.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {

// A directory made by hand becomes a bucket at the first lookup. It is on the disk before anything
// in it counts: a power failure that took it would take small objects with it, whose bytes are in
// the side store. The caller holds the bucket's lock.
Result<Bucket> DirectoryStore::BucketRecord(const std::string& name) const {
  ASSIGN_OR_RETURN(auto known, side_->FindBucket(name));
  if (known) return std::move(*known);
  if (options_.durable && ::fsync(directories_.root.get()) != 0) {
    return errors::CannotSyncBuckets(errno);
  }
  Bucket bucket;
  bucket.name = name;
  bucket.revision = side_->NextRevision(0);
  bucket.time_created = bucket.updated = clock_.Now();
  side_->StageBucket(bucket);
  return bucket;
}

// As GetBucket, if the caller holds the bucket's lock.
Result<Bucket> DirectoryStore::SavedBucket(const std::string& name) const {
  if (const Bucket* const saved = LockOf(name).unsaved_buckets.FindSaved(name)) return *saved;
  return BucketRecord(name);
}

Result<BucketRules> DirectoryStore::RulesFor(const std::string& bucket) const {
  if (const Bucket* const saved = LockOf(bucket).unsaved_buckets.FindSaved(bucket)) {
    return RulesOf(*saved);
  }
  if (auto known = side_->FindRules(bucket)) return std::move(*known);
  ASSIGN_OR_RETURN(const Bucket record, BucketRecord(bucket));
  return RulesOf(record);
}

Result<Bucket> DirectoryStore::CreateBucket(const Bucket& wanted) {
  const std::string& name = wanted.name;
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  Bucket bucket = wanted;
  {
    const auto lock = LockForSettings(name);
    if (::mkdirat(directories_.root.get(), name.c_str(), 0777) != 0) {
      if (errno == EEXIST) return errors::BucketExists(name);
      return errors::CannotMakeBucket(name, errno);
    }
    side_->StageBucketRemoval(name);  // a bucket of that name that was removed by hand
    ForgetVersions(name);
    bucket.metageneration = 1;
    bucket.revision = side_->NextRevision(0);
    bucket.time_created = bucket.updated = clock_.Now();
    StampSettings(Bucket(), bucket.updated, &bucket);
    side_->StageBucket(bucket);  // before a lookup takes the directory for one made by hand
  }
  Step();
  if (const Status saved = SaveNewBucket(); !saved.ok()) {
    WithdrawNewBucket(bucket);
    return saved.error();
  }
  return bucket;
}

Status DirectoryStore::SaveNewBucket() {
  if (options_.durable && ::fsync(directories_.root.get()) != 0) {
    return errors::CannotSyncBuckets(errno);
  }
  return side_->Flush();
}

// So that the client can try again. The bucket stays if another client has changed it, or has put
// an object into it.
void DirectoryStore::WithdrawNewBucket(const Bucket& refused) {
  const std::string& name = refused.name;
  {
    const std::lock_guard lock(LockOf(name).mutex);
    const auto known = side_->FindBucket(name);
    if (known.ok() && *known && (*known)->revision != refused.revision) return;
    if (::unlinkat(directories_.root.get(), name.c_str(), AT_REMOVEDIR) != 0) return;
    side_->StageBucketRemoval(name);
  }
  (void)side_->Flush().ok();  // the record of a bucket without a directory is not read
}

// Each write and copy looks up its bucket. Only one that has no record yet, or settings that are
// not on disk, needs the lock.
Result<Bucket> DirectoryStore::GetBucket(const std::string& name) const {
  RETURN_IF_ERROR(CheckBucket(name));
  const auto& unsaved = LockOf(name).unsaved_buckets;
  if (const auto count = unsaved.CountIfEnded()) {
    ASSIGN_OR_RETURN(auto known, side_->FindBucket(name));
    if (known && !unsaved.HasBegunSince(*count)) return std::move(*known);
  }
  const std::lock_guard lock(LockOf(name).mutex);
  RETURN_IF_ERROR(CheckBucket(name));
  return SavedBucket(name);
}

Result<Bucket> DirectoryStore::GetUnsavedBucket(const std::string& name) const {
  const std::lock_guard lock(LockOf(name).mutex);
  RETURN_IF_ERROR(CheckBucket(name));
  return BucketRecord(name);
}

Result<std::vector<Bucket>> DirectoryStore::ListBuckets() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(options_.root, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename();
    if (!BucketNameProblem(name)) names.push_back(std::move(name));
  }
  if (error) return errors::CannotListBuckets(error.value());
  std::sort(names.begin(), names.end());
  std::vector<Bucket> buckets;
  for (const std::string& name : names) {
    auto bucket = GetBucket(name);
    if (bucket.ok()) {
      buckets.push_back(std::move(*bucket));
    } else if (bucket.error().code != Code::kNotFound) {  // it may have been deleted since
      return bucket.error();
    }
  }
  return buckets;
}

// Another thread may have read the refused settings to change them, so they share their revision
// with no other ones.
void DirectoryStore::Withdraw(const Bucket& refused) {
  BucketLock& its = LockOf(refused.name);
  {
    const std::lock_guard lock(its.mutex);
    auto before = its.unsaved_buckets.NoteRefused(refused.name, refused.revision);
    if (!before) return;
    before->revision = side_->NextRevision(refused.revision);
    side_->StageBucket(*before);
    its.unsaved_buckets.NoteWithdrawn();
  }
  its.settled.notify_all();
  (void)side_->Flush().ok();  // another thread may have saved them meanwhile
}

void DirectoryStore::NoteSaved(const Bucket& bucket) {
  BucketLock& its = LockOf(bucket.name);
  {
    const std::lock_guard lock(its.mutex);
    its.unsaved_buckets.NoteSaved(bucket.name, bucket.revision);
  }
  its.settled.notify_all();
}

Result<Bucket> DirectoryStore::UpdateBucket(const Bucket& wanted) {
  Bucket bucket;
  BucketLock& its = LockOf(wanted.name);
  {
    const auto lock = LockForSettingsUpdate(wanted.name);
    RETURN_IF_ERROR(OpenBucket(wanted.name));
    ASSIGN_OR_RETURN(Bucket now, BucketRecord(wanted.name));
    if (now.revision != wanted.revision) return errors::BucketChanged(wanted.name);
    RETURN_IF_ERROR(CheckUniformAccessKept(now, wanted, clock_.Now()));
    bucket = wanted;
    bucket.time_created = now.time_created;
    const bool counts = bucket.metageneration != now.metageneration;
    bucket.updated = counts ? clock_.Now() : now.updated;
    StampSettings(now, bucket.updated, &bucket);
    bucket.revision = side_->NextRevision(now.revision);
    its.unsaved_buckets.Add(bucket.name, bucket.revision, std::move(now));
    side_->StageBucket(bucket);
  }
  const Status saved = side_->Flush();
  Step();
  if (!saved.ok()) {
    Withdraw(bucket);
    return saved.error();
  }
  NoteSaved(bucket);
  return bucket;
}

Status DirectoryStore::DeleteBucket(const std::string& name) {
  {
    const auto lock = LockForChange(name, {});
    ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(name));
    ListQuery any;
    any.max_results = 1;
    ListingPage page(any, "");
    RETURN_IF_ERROR(WalkTree(tree.fd(), cache_, page));
    RETURN_IF_ERROR(side_->Flush());
    ASSIGN_OR_RETURN(const auto kept, side_->VersionsFrom(name, "", 0, false, 1));
    if (!kept.empty() || !page.entries().empty()) return errors::BucketNotEmpty(name);
    RETURN_IF_ERROR(tree.RemoveEmptyDirectories());
    if (::unlinkat(directories_.root.get(), name.c_str(), AT_REMOVEDIR) != 0) {
      return errors::CannotRemoveBucket(name, errno);
    }
    Step();
    // Before another thread can save that the bucket has no settings: after a power failure, it
    // could exist without them otherwise.
    const bool is_synced = !options_.durable || ::fsync(directories_.root.get()) == 0;
    const int error = errno;
    side_->StageBucketRemoval(name);
    ForgetVersions(name);
    if (!is_synced) return errors::CannotSyncBuckets(error);
  }
  return side_->Flush();
}

// The directory store's listings: live objects from the tree, merged with versions from the side
// store.

namespace {

constexpr int kVersionsAtOnce = 1000;

// Merges the objects of the walk with the versions of the side store on a page.
class VersionMerger final : public TreeVisitor {
 public:
  VersionMerger(SideStore& side, const std::string& bucket, ListingPage& page, PageStart start,
                bool soft_deleted)
      : side_(side),
        bucket_(bucket),
        page_(page),
        next_(std::move(start)),
        soft_deleted_(soft_deleted) {}
  const std::string& seek() const override { return page_.seek(); }
  bool WantsBelow(const std::string& prefix) const override { return page_.WantsBelow(prefix); }
  bool Visit(const std::string& name, const std::string& path) override {
    if (!Feed(&name)) return false;
    return name < page_.seek() || page_.Visit(name, path);  // a version may have advanced seek()
  }
  /// Adds the versions after the last name of the tree. An Error if not all versions could be read.
  Status Finish() {
    if (read_.ok() && !page_.full()) (void)Feed(nullptr);
    return read_;
  }

 private:
  // Feeds the versions up to and including this name, or all remaining ones for nullptr.
  bool Feed(const std::string* up_to) {
    while (true) {
      if (at_ == known_.size() && (ended_ || !Fetch())) return read_.ok();
      const SideStore::VersionName& version = known_[at_];
      if (up_to != nullptr && version.name > *up_to) return true;
      ++at_;
      if (version.name < page_.seek()) continue;
      if (!page_.VisitVersion(version.name, version.generation)) return false;
    }
  }

  bool Fetch() {
    if (page_.seek() > next_.name) next_ = {page_.seek(), 0};
    auto known =
        side_.VersionsFrom(bucket_, next_.name, next_.generation, soft_deleted_, kVersionsAtOnce);
    if (!known.ok()) {
      read_ = known.error();
      return false;
    }
    known_ = std::move(*known);
    at_ = 0;
    ended_ = known_.size() < kVersionsAtOnce;
    if (known_.empty()) return false;
    next_ = {known_.back().name, known_.back().generation + 1};
    return true;
  }

  SideStore& side_;
  const std::string& bucket_;
  ListingPage& page_;
  PageStart next_;
  bool soft_deleted_;
  std::vector<SideStore::VersionName> known_;
  size_t at_ = 0;
  bool ended_ = false;
  Status read_ = Ok{};
};

}  // namespace

// Returns the object of a page's entry; nullopt if it has been deleted since.
Result<std::optional<ObjectInfo>> DirectoryStore::ListedLocked(FileFinder& finder,
                                                               const BucketTree& tree,
                                                               const PageEntry& entry,
                                                               std::optional<ObjectRecord> record,
                                                               bool* unhashed) const {
  if (entry.generation != 0) {
    ASSIGN_OR_RETURN(auto version, side_->FindVersion(tree.bucket(), entry.name, entry.generation));
    if (!version) return std::optional<ObjectInfo>();
    ShowSaved(&*version);
    *unhashed = !version->hashed;
    const auto& end = version->info.hard_delete_time;
    if (end && *end <= clock_.Now()) return std::optional<ObjectInfo>();
    return std::optional(std::move(version->info));
  }
  ASSIGN_OR_RETURN(const std::optional<FileIdentity> file, finder.Find(entry.path));
  if (!file) return std::optional<ObjectInfo>();
  const auto* const placing = FindPlacing(tree.bucket(), entry.name);
  if (placing) record = *placing ? std::optional(**placing) : std::nullopt;
  if (record) ShowSaved(&*record);
  if (!record || record->file != *file) {
    record = Adopt(tree.bucket(), entry.name, *file, placing == nullptr);
  }
  *unhashed = !record->hashed;
  return std::optional(std::move(record->info));
}

Result<Listing> DirectoryStore::List(const std::string& bucket, const ListQuery& query) const {
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(query.page_token));
  ListingPage page(query, start.name);
  Listing listing;
  std::vector<size_t> unhashed;
  if (query.versions || query.soft_deleted) RETURN_IF_ERROR(side_->Flush());
  {
    const std::lock_guard lock(LockOf(bucket).mutex);
    if (query.versions || query.soft_deleted) {
      VersionMerger merger(*side_, bucket, page, start, query.soft_deleted);
      if (!query.soft_deleted) RETURN_IF_ERROR(WalkTree(tree.fd(), cache_, merger));
      RETURN_IF_ERROR(merger.Finish());
    } else {
      RETURN_IF_ERROR(WalkTree(tree.fd(), cache_, page));
    }
    page.Finish();
    FileFinder finder(tree.fd());
    std::vector<std::string> names;
    for (const PageEntry& entry : page.entries()) names.push_back(entry.name);
    ASSIGN_OR_RETURN(auto records, side_->FindObjects(bucket, names));
    for (size_t i = 0; i < names.size(); ++i) {
      const PageEntry& entry = page.entries()[i];
      if (entry.is_prefix) {
        listing.prefixes.push_back(entry.name);
        continue;
      }
      bool without_sums = false;
      ASSIGN_OR_RETURN(auto info,
                       ListedLocked(finder, tree, entry, std::move(records[i]), &without_sums));
      if (!info) continue;
      // A version whose move was interrupted by a crash is still the live one.
      if (!listing.items.empty() && listing.items.back().generation == info->generation) {
        listing.items.pop_back();
      }
      if (without_sums) unhashed.push_back(listing.items.size());
      listing.items.push_back(std::move(*info));
    }
    listing.next_page_token = page.NextPageToken();
  }
  for (const size_t index : unhashed) {
    if (!query.with_hashes) break;
    const ObjectInfo& item = listing.items[index];
    auto hashed =
        FindVersion(bucket, item.name, {item.generation, item.hard_delete_time.has_value()});
    if (!hashed.ok() && hashed.error().code == Code::kCancelled) return hashed.error();
    if (hashed.ok()) listing.items[index] = std::move(hashed->record.info);
  }
  if (!unhashed.empty()) RETURN_IF_ERROR(side_->Flush());
  return listing;
}

}  // namespace caip::gcs
