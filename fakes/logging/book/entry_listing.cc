#include "fakes/logging/book/entry_listing.h"

#include <algorithm>

#include "base/abandoned_work.h"
#include "base/json.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr int kEntriesPerCheck = 64;
constexpr std::string_view kProjects = "projects/";

/// Merges sources. Holds those that have not ended, each at an entry.
class EntryMerge {
 public:
  explicit EntryMerge(bool newest_first) : newest_first_(newest_first) {}

  Status Add(std::unique_ptr<EntryCursor> cursor) {
    ASSIGN_OR_RETURN(const bool has_entry, cursor->Next());
    examined_ += cursor->examined();
    if (has_entry) cursors_.push_back({cursor->position(), std::move(cursor)});
    return Ok{};
  }

  bool empty() const { return cursors_.empty(); }
  /// The number of stored entries that were examined.
  size_t examined() const { return examined_; }

  /// The source whose entry is next.
  const EntryCursor& current() const { return *cursors_[First()].second; }
  const EntryPosition& position() const { return cursors_[First()].first; }

  Status Next() {
    auto& [position, cursor] = cursors_[First()];
    ASSIGN_OR_RETURN(const bool has_entry, cursor->Next());
    examined_ += cursor->examined();
    if (has_entry) {
      position = cursor->position();
    } else {
      cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(First()));
    }
    return Ok{};
  }

 private:
  size_t First() const {
    size_t first = 0;
    for (size_t i = 1; i < cursors_.size(); ++i) {
      const bool before = cursors_[i].first < cursors_[first].first;
      if (before != newest_first_) first = i;
    }
    return first;
  }

  bool newest_first_;
  size_t examined_ = 0;
  std::vector<std::pair<EntryPosition, std::unique_ptr<EntryCursor>>> cursors_;
};

bool IsAfterStart(const EntryPosition& position, const ListQuery& query) {
  if (!query.after) return true;
  return query.newest_first ? position < *query.after : position > *query.after;
}

Result<EntryScan> PrepareScan(LogFile& file, const ListQuery& query) {
  EntryScan scan;
  scan.bounds = EntryBounds::Of(query.filter, file.names().service);
  scan.newest_first = query.newest_first;
  scan.bounds.until = std::min(scan.bounds.until, query.until);
  if (query.after && query.newest_first) {
    scan.bounds.until = std::min(scan.bounds.until, query.after->time + Duration(1));
  } else if (query.after) {
    scan.bounds.from = std::max(scan.bounds.from, query.after->time);
  }
  ASSIGN_OR_RETURN(scan.deleted, ReadDeleted(file));
  ASSIGN_OR_RETURN(const int64_t span, file.Setting(kSpanSetting));
  scan.span = std::max(scan.span, Duration(span));
  return scan;
}

Status AddSources(LogFile& file, const EntryScan& scan, const std::vector<std::string>& parents,
                  EntryMerge& merge) {
  const auto& type = scan.bounds.resource_type;
  const bool fits_type = !type || FoldCase(*type) == FoldCase(file.names().resource_type);
  const bool may_be_jobs = fits_type && !scan.bounds.no_job_entries;
  int source = 0;
  for (const std::string& parent : parents) {
    if (may_be_jobs && parent.starts_with(kProjects)) {
      const std::string project = parent.substr(kProjects.size());
      RETURN_IF_ERROR(merge.Add(MakeChunkCursor(file, scan, project, source)));
    }
    RETURN_IF_ERROR(merge.Add(MakeWrittenCursor(file, scan, parent, source + 1)));
    source += 2;
  }
  return Ok{};
}

bool IsOutOfBounds(const EntryPosition& position, const EntryScan& scan) {
  return scan.newest_first ? position.time < scan.bounds.from : position.time >= scan.bounds.until;
}

Status FillPage(LogFile& file, const ListQuery& query, ListPage& page) {
  ASSIGN_OR_RETURN(const EntryScan scan, PrepareScan(file, query));
  if (scan.bounds.none || scan.bounds.from >= scan.bounds.until) return Ok{};
  EntryMerge merge(query.newest_first);
  RETURN_IF_ERROR(AddSources(file, scan, query.parents, merge));
  std::optional<EntryPosition> last = query.after;
  bool has_moved = false;
  for (int entries = 0; !merge.empty() && !IsOutOfBounds(merge.position(), scan); ++entries) {
    if (entries % kEntriesPerCheck == 0 && IsWorkAbandoned()) return errors::ClientGone();
    if (IsAfterStart(merge.position(), query)) {
      const bool is_at_limit = has_moved && merge.examined() > query.examined_max;
      if (page.entries.size() == query.limit || is_at_limit) {
        page.next = last;
        return Ok{};
      }
      last = merge.position();
      has_moved = true;
      if (merge.current().IsWanted()) {
        ASSIGN_OR_RETURN(Json entry, merge.current().Read());
        if (query.filter.Matches(entry)) page.entries.push_back(std::move(entry));
      }
    }
    RETURN_IF_ERROR(merge.Next());
  }
  return Ok{};
}

}  // namespace

Result<ListPage> ListEntries(LogFile& file, const ListQuery& query) {
  ListPage page;
  RETURN_IF_ERROR(file.ReadSnapshot([&] { return FillPage(file, query, page); }));
  return page;
}

}  // namespace caip::logging
