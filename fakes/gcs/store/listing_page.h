#pragma once
// One page of a listing: names and common prefixes, collected while a bucket is walked.

#include <memory>
#include <string>
#include <vector>

#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/glob.h"
#include "fakes/gcs/store/tree_walk.h"

namespace caip::gcs {

/// A name or common prefix on a page.
struct PageEntry {
  std::string name;
  bool is_prefix = false;  // of a name to be added: a folder, which is a prefix or nothing
  int64_t generation = 0;  // of a version that is not live
  std::string path = {};   // of the live one
};

/// The start of a page: a version of a name. The live version comes last.
struct PageStart {
  std::string name;
  int64_t generation = 0;
};

/// Collects a page. Make it with a token that ParsePageToken has read.
class ListingPage final : public TreeVisitor {
 public:
  /// `from`: names before it were on earlier pages.
  ListingPage(const ListQuery& query, std::string from);
  ~ListingPage() override;
  const std::string& seek() const override { return seek_; }
  bool WantsBelow(const std::string& prefix) const override;
  bool Visit(const std::string& name, const std::string& path) override {
    return AddInTurn({name, false, 0, path});
  }
  /// The same for a version that is not live.
  bool VisitVersion(const std::string& name, int64_t generation) {
    return AddInTurn({name, false, generation, ""});
  }
  /// Adds the query's folders that follow the last name.
  void Finish();

  /// True when there is more than the page holds.
  bool full() const { return more_; }
  const std::vector<PageEntry>& entries() const { return entries_; }
  /// "" when this is the last page.
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
  size_t folders_ = 0;  // of the query's, that had their turn
  bool more_ = false;
};

/// The start that a token names: "" without a token. kInvalidArgument for an invalid one.
Result<PageStart> ParsePageToken(const std::string& token);

/// The token of a page that begins after `name`.
std::string PageTokenAfter(const std::string& name);

/// The first name after all that begin with `prefix`.
std::string AfterAllBelow(std::string prefix);

}  // namespace caip::gcs
