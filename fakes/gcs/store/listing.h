#pragma once
// Listings of a bucket: a walk through its directory in the order of object names (bytes of UTF-8),
// from any name on, and the page that the walk fills.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/glob.h"

namespace caip::gcs {

/// An entry of a directory: an object, or a directory that may hold objects.
struct TreeEntry {
  std::string key;  // the object's name below this directory; a directory's ends in "/"
  std::string path;
  bool directory = false;
};
using TreeEntries = std::shared_ptr<const std::vector<TreeEntry>>;  // sorted by key

/// Remembers large directories between the pages of a listing. It does not learn that a directory
/// was deleted, so lists that are not used must be forgotten now and then. Any thread.
class DirectoryCache {
 public:
  /// Reads the directory `path` of the bucket. The objects in it have names that begin with
  /// `prefix`. A directory that does not exist has no entries; an Error if it cannot be read.
  Result<TreeEntries> Read(int bucket_directory, const std::string& path,
                           const std::string& prefix);
  /// Forgets the lists that have not been used since the last call.
  void ForgetUnused();
  size_t size() const;  // in entries of directories

 private:
  struct Known {
    std::string path;  // a directory may be moved without being changed
    int64_t modified_ns = 0;
    TreeEntries entries;
    bool is_used = true;  // since the last ForgetUnused()
  };
  void Keep(const std::pair<uint64_t, uint64_t>& key, Known known);

  mutable std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, Known> known_;  // by device and inode
  size_t entries_ = 0;
};

/// Receives each object in order. Its seek() says where the walk continues, so that the walk can
/// skip whole directories.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  /// Names before this one are skipped.
  virtual const std::string& seek() const = 0;
  /// False to skip all names that begin with `prefix`.
  virtual bool WantsBelow(const std::string& prefix) const = 0;
  /// False ends the walk.
  virtual bool Visit(const std::string& name, const std::string& path) = 0;
};

/// Walks through all objects until the visitor ends the walk. An Error if a directory cannot be
/// read (no free descriptor, say): the visitor has not seen all objects then.
Status WalkTree(int bucket_directory, DirectoryCache& cache, TreeVisitor& visitor);

/// A name or common prefix on a page.
struct PageEntry {
  std::string name;
  bool is_prefix = false;  // for Add: a managed folder, which may only become a prefix
  int64_t generation = 0;  // of a version that is not live
  std::string path = {};   // of the live version
};

/// The start of a page: a version of a name. The live version comes last.
struct PageStart {
  std::string name;
  int64_t generation = 0;
};

/// Collects one page of a listing.
class ListingPage final : public TreeVisitor {
 public:
  /// `from`: the name of ParsePageToken. Names before it were on earlier pages.
  ListingPage(const ListQuery& query, std::string from);
  ~ListingPage() override;
  const std::string& seek() const override { return seek_; }
  bool WantsBelow(const std::string& prefix) const override;
  bool Visit(const std::string& name, const std::string& path) override {
    return AddInTurn({name, false, 0, path});
  }
  /// Like Visit, for a version that is not live.
  bool VisitVersion(const std::string& name, int64_t generation) {
    return AddInTurn({name, false, generation, ""});
  }
  /// Adds the query's folders that follow the last name.
  void Finish();

  /// True if more entries follow the page.
  bool full() const { return more_; }
  const std::vector<PageEntry>& entries() const { return entries_; }
  /// "" if this is the last page.
  std::string NextPageToken() const;

 private:
  bool BeyondEnd(const std::string& name) const;
  bool AddInTurn(PageEntry entry);
  bool AddFolders(const std::string* up_to);
  bool Add(PageEntry entry);

  const ListQuery& query_;
  std::unique_ptr<Glob> glob_;
  std::string seek_;
  std::vector<PageEntry> entries_;
  size_t folders_ = 0;  // number of the query's folders that were added or skipped
  bool more_ = false;
};

/// The start that a token names: "" without a token. kInvalidArgument for an invalid one.
Result<PageStart> ParsePageToken(const std::string& token);

/// The token of a page that begins after `name`.
std::string PageTokenAfter(const std::string& name);

/// The first name after all that begin with `prefix`.
std::string NameAfterPrefix(std::string prefix);

}  // namespace caip::gcs
