// The directory store's listings: live objects from the tree, merged with versions from the side
// store.
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/object_path.h"

namespace caip::gcs {
namespace {

constexpr int kVersionsAtOnce = 1000;

// Merges the objects of the walk with the versions of the side store on a page.
class VersionThreader final : public TreeVisitor {
 public:
  VersionThreader(SideStore& side, const std::string& bucket, ListingPage& page, PageStart start,
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
    return name < page_.seek() || page_.Visit(name, path);  // a version may have passed a group
  }
  /// Adds the versions after the last name of the tree.
  void Finish() {
    if (!page_.full()) (void)Feed(nullptr);
  }

 private:
  // Up to and with this name; to the end without one.
  bool Feed(const std::string* up_to) {
    while (true) {
      if (at_ == known_.size() && (ended_ || !Fetch())) return true;
      const SideStore::VersionName& version = known_[at_];
      if (up_to != nullptr && version.name > *up_to) return true;
      ++at_;
      if (version.name < page_.seek()) continue;
      if (!page_.VisitVersion(version.name, version.generation)) return false;
    }
  }

  bool Fetch() {
    if (page_.seek() > next_.name) next_ = {page_.seek(), 0};
    known_ =
        side_.VersionsFrom(bucket_, next_.name, next_.generation, soft_deleted_, kVersionsAtOnce);
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
};

}  // namespace

// The object of a page's entry; nullopt if it was deleted since.
std::optional<ObjectInfo> DirectoryStore::ListedLocked(FileLooker& looker, const BucketTree& tree,
                                                       const PageEntry& entry,
                                                       std::optional<ObjectRecord> record,
                                                       bool* unhashed) const {
  if (entry.generation != 0) {
    auto version = side_->FindVersion(tree.bucket(), entry.name, entry.generation);
    if (!version) return std::nullopt;
    *unhashed = !version->hashed;
    const auto& end = version->info.hard_delete_time;
    if (end && *end <= clock_.Now()) return std::nullopt;
    return std::move(version->info);
  }
  const auto file = looker.Look(entry.path);
  if (!file) return std::nullopt;
  if (!record || record->file != *file) record = Adopt(tree.bucket(), entry.name, *file);
  *unhashed = !record->hashed;
  return std::move(record->info);
}

Result<Listing> DirectoryStore::List(const std::string& bucket, const ListQuery& query) const {
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(query.page_token));
  ListingPage page(query, start.name);
  Listing listing;
  std::vector<size_t> unhashed;
  if (query.versions || query.soft_deleted) RETURN_IF_ERROR(side_->Flush());
  {
    const std::lock_guard lock(LockOf(bucket));
    if (query.versions || query.soft_deleted) {
      VersionThreader threader(*side_, bucket, page, start, query.soft_deleted);
      if (!query.soft_deleted) WalkTree(tree.fd(), cache_, threader);
      threader.Finish();
    } else {
      WalkTree(tree.fd(), cache_, page);
    }
    page.Finish();
    FileLooker looker(tree.fd());
    std::vector<std::string> names;
    for (const PageEntry& entry : page.entries()) names.push_back(entry.name);
    auto records = side_->FindObjects(bucket, names);
    for (size_t i = 0; i < names.size(); ++i) {
      const PageEntry& entry = page.entries()[i];
      if (entry.is_prefix) {
        listing.prefixes.push_back(entry.name);
        continue;
      }
      bool without_sums = false;
      auto info = ListedLocked(looker, tree, entry, std::move(records[i]), &without_sums);
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
    if (hashed.ok()) listing.items[index] = std::move(hashed->record.info);
  }
  if (!unhashed.empty()) RETURN_IF_ERROR(side_->Flush());
  return listing;
}

}  // namespace caip::gcs
