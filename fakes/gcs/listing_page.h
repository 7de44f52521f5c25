#pragma once
// One page of a listing: which names and which common prefixes, from the walk of a bucket.

#include <string>
#include <vector>

#include "fakes/gcs/bucket_store.h"
#include "fakes/gcs/tree_walk.h"

namespace caip::gcs {

/// What a page holds, in order.
struct PageEntry {
  std::string name;
  bool is_prefix = false;
};

/// Collects a page. Make it with a token that ParsePageToken has read.
class ListingPage final : public TreeVisitor {
 public:
  /// `from`: names before it were on earlier pages.
  ListingPage(const ListQuery& query, std::string from);
  const std::string& seek() const override { return seek_; }
  bool WantsBelow(const std::string& prefix) const override;
  bool Visit(const std::string& name, const std::string& path) override;

  const std::vector<PageEntry>& entries() const { return entries_; }
  /// "" when this is the last page.
  std::string NextPageToken() const;

 private:
  bool BeyondEnd(const std::string& name) const;

  const ListQuery& query_;
  std::string seek_;
  std::vector<PageEntry> entries_;
  bool more_ = false;
};

/// Where the page begins: "" for no token. kInvalidArgument for one that we never gave.
Result<std::string> ParsePageToken(const std::string& token);

/// The first name after all that begin with `prefix`.
std::string AfterAllBelow(std::string prefix);

}  // namespace caip::gcs
