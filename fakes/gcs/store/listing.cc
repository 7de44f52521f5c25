
#include "fakes/gcs/store/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/abandoned_work.h"
#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

constexpr size_t kVisitsPerCheck = 1024;
constexpr size_t kCachedEntriesMin = 256;  // entries
constexpr size_t kCachedEntriesMax = 2'000'000;
// A directory that changes twice within one tick of the file system's clock looks unchanged the
// second time, so a directory that changed just now is not cached.
constexpr std::chrono::nanoseconds kTick = std::chrono::milliseconds(50);

std::chrono::nanoseconds FileSystemNow() {
  using FileClock = std::filesystem::file_time_type::clock;
  return FileClock::to_sys(FileClock::now()).time_since_epoch();
}

class DirectoryReader {
 public:
  DirectoryReader(int bucket_directory, const std::string& prefix)
      : bucket_directory_(bucket_directory), prefix_(prefix) {}

  // Adds the entries of `path`. `lead` is the part of a cut component that the directories above
  // hold.
  Status Read(const std::string& path, const std::string& lead, Fd directory) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(directory.Release()),
                                                      &::closedir);
    if (!entries) return errors::CannotOpenDirectoryOf(path, errno);
    while (true) {
      errno = 0;
      const dirent* const entry = ::readdir(entries.get());
      if (!entry && errno != 0) return errors::CannotOpenDirectoryOf(path, errno);
      if (!entry) return Ok{};
      const std::string_view leaf = entry->d_name;
      if (leaf == "." || leaf == "..") continue;
      const unsigned char type = TypeOf(::dirfd(entries.get()), *entry);
      if (type != DT_REG && type != DT_DIR) continue;
      RETURN_IF_ERROR(Add(path, lead, leaf, type == DT_DIR));
    }
  }

  std::vector<TreeEntry> Take() {
    std::sort(entries_.begin(), entries_.end(), [](const TreeEntry& a, const TreeEntry& b) {
      return a.key != b.key ? a.key < b.key : a.path < b.path;
    });
    // "a" and "a%~file" are the same object; the plain file is the one that counts.
    const auto same = [](const TreeEntry& a, const TreeEntry& b) { return a.key == b.key; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
    return std::move(entries_);
  }
  bool has_cut_components() const { return has_cut_components_; }

 private:
  static unsigned char TypeOf(int directory, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type;
    struct stat status {};
    if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : DT_UNKNOWN;
  }

  Status Add(const std::string& above, const std::string& lead, std::string_view leaf,
             bool directory) {
    std::string path = above.empty() ? std::string(leaf) : above + "/" + std::string(leaf);
    if (lead.empty() && IsPlainPiece(leaf)) {
      entries_.push_back({std::string(leaf) + (directory ? "/" : ""), std::move(path), directory});
      return Ok{};
    }
    const PathPiece piece = DecodePiece(leaf);
    if (directory && piece.kind == PathPiece::Kind::kContinues) {
      has_cut_components_ = true;
      Fd below = OpenBeneath(bucket_directory_, path, O_RDONLY | O_DIRECTORY);
      const bool sane = lead.size() + piece.text.size() <= kObjectNameBytesMax;
      if (!below.valid() && !MeansAbsent(errno)) return errors::CannotOpenDirectoryOf(path, errno);
      if (!below.valid() || !sane) return Ok{};
      return Read(path, lead + piece.text, std::move(below));
    }
    const std::string key = lead + piece.text + (directory ? "/" : "");
    const auto name = NameOfPath(directory ? path + "/x" : path);  // another path is not an object
    if (name != prefix_ + key + (directory ? "x" : "")) return Ok{};
    entries_.push_back({key, std::move(path), directory});
    return Ok{};
  }

  int bucket_directory_;
  const std::string& prefix_;
  std::vector<TreeEntry> entries_;
  bool has_cut_components_ = false;
};

class Walk {
 public:
  Walk(int bucket_directory, DirectoryCache& cache, TreeVisitor& visitor)
      : bucket_directory_(bucket_directory), cache_(cache), visitor_(visitor) {}

  /// False: the visitor has ended the walk.
  Result<bool> Below(const std::string& path, const std::string& prefix) {
    ASSIGN_OR_RETURN(const TreeEntries entries, cache_.Read(bucket_directory_, path, prefix));
    for (auto at = First(*entries, prefix); at != entries->end();) {
      if (++visited_ % kVisitsPerCheck == 0 && IsWorkAbandoned()) return false;
      const std::string name = prefix + at->key;
      const std::string& seek = visitor_.seek();
      if (seek > name && !(at->directory && seek.starts_with(name))) {
        const auto next = First(*entries, prefix);  // skips a large group
        at = next > at ? next : std::next(at);
        continue;
      }
      if (!at->directory) {
        if (name.size() <= kObjectNameBytesMax && !visitor_.Visit(name, at->path)) return false;
      } else if (visitor_.WantsBelow(name)) {
        ASSIGN_OR_RETURN(const bool goes_on, Below(at->path, name));
        if (!goes_on) return false;
      }
      ++at;
    }
    return true;
  }

 private:
  // The first entry that may hold a wanted name.
  std::vector<TreeEntry>::const_iterator First(const std::vector<TreeEntry>& entries,
                                               const std::string& prefix) const {
    const std::string& seek = visitor_.seek();
    if (!seek.starts_with(prefix)) return seek < prefix ? entries.begin() : entries.end();
    const std::string_view tail = std::string_view(seek).substr(prefix.size());
    auto at = std::lower_bound(
        entries.begin(), entries.end(), tail,
        [](const TreeEntry& entry, std::string_view wanted) { return entry.key < wanted; });
    if (at != entries.begin()) {
      const auto before = std::prev(at);
      if (before->directory && tail.starts_with(before->key)) return before;
    }
    return at;
  }

  int bucket_directory_;
  DirectoryCache& cache_;
  TreeVisitor& visitor_;
  size_t visited_ = 0;
};

}  // namespace

Result<TreeEntries> DirectoryCache::Read(int bucket_directory, const std::string& path,
                                         const std::string& prefix) {
  static const TreeEntries nothing = std::make_shared<const std::vector<TreeEntry>>();
  Fd directory = OpenBeneath(bucket_directory, path, O_RDONLY | O_DIRECTORY);
  struct stat status {};
  if (!directory.valid() || ::fstat(directory.get(), &status) != 0) {
    if (MeansAbsent(errno)) return nothing;
    return errors::CannotOpenDirectoryOf(path, errno);
  }
  const std::pair<uint64_t, uint64_t> key(status.st_dev, status.st_ino);
  const int64_t modified = IdentityOf(status).modified_ns;
  {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    if (at != known_.end() && at->second.modified_ns == modified && at->second.path == path) {
      at->second.is_used = true;
      return at->second.entries;
    }
  }
  const auto before = FileSystemNow();
  DirectoryReader reader(bucket_directory, prefix);
  RETURN_IF_ERROR(reader.Read(path, "", std::move(directory)));
  auto entries = std::make_shared<const std::vector<TreeEntry>>(reader.Take());
  if (entries->size() < kCachedEntriesMin || reader.has_cut_components() ||
      before.count() - modified < kTick.count()) {
    return entries;
  }
  Keep(key, {path, modified, entries});
  return entries;
}

void DirectoryCache::Keep(const std::pair<uint64_t, uint64_t>& key, Known known) {
  const std::lock_guard lock(mutex_);
  if (const auto at = known_.find(key); at != known_.end()) {
    entries_ -= at->second.entries->size();
    known_.erase(at);
  }
  if (entries_ + known.entries->size() > kCachedEntriesMax) {
    known_.clear();
    entries_ = 0;
  }
  entries_ += known.entries->size();
  known_.emplace(key, std::move(known));
}

void DirectoryCache::ForgetUnused() {
  std::vector<TreeEntries> unused;  // deleted after the mutex is unlocked
  const std::lock_guard lock(mutex_);
  for (auto at = known_.begin(); at != known_.end();) {
    if (std::exchange(at->second.is_used, false)) {
      ++at;
      continue;
    }
    entries_ -= at->second.entries->size();
    unused.push_back(std::move(at->second.entries));
    at = known_.erase(at);
  }
}

size_t DirectoryCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

Status WalkTree(int bucket_directory, DirectoryCache& cache, TreeVisitor& visitor) {
  RETURN_IF_ERROR(Walk(bucket_directory, cache, visitor).Below("", ""));
  return Ok{};
}

namespace {

constexpr int kResultsMax = 1000;  // per page
constexpr char kAfterName = 'n';   // a token continues after a name, or after a common prefix
constexpr char kAfterPrefix = 'p';
constexpr char kAfterVersion = 'v';  // of a name: "v<generation>/<name>"

size_t Limit(const ListQuery& query) {
  const int wanted = query.max_results > 0 ? query.max_results : kResultsMax;
  return static_cast<size_t>(std::min(wanted, kResultsMax));
}

std::string TokenOf(const std::string& text) { return Base64Url(text, true); }

}  // namespace

std::string NameAfterPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

ListingPage::ListingPage(const ListQuery& query, std::string from)
    : query_(query), seek_(std::max({query.prefix, query.start_offset, std::move(from)})) {
  if (query.match_glob.empty()) return;
  glob_ = std::make_unique<Glob>(query.match_glob);
  seek_ = std::max(seek_, glob_->literal_prefix());
}

ListingPage::~ListingPage() = default;

bool ListingPage::BeyondEnd(const std::string& name) const {
  return !query_.end_offset.empty() && name >= query_.end_offset;
}

bool ListingPage::WantsBelow(const std::string& prefix) const {
  if (glob_ && !glob_->literal_prefix().starts_with(prefix) &&
      !prefix.starts_with(glob_->literal_prefix())) {
    return false;
  }
  return !BeyondEnd(prefix) &&
         (prefix.starts_with(query_.prefix) || query_.prefix.starts_with(prefix));
}

// Adds the folders that precede the entry, then the entry. Both arrive in order.
bool ListingPage::AddInTurn(PageEntry entry) {
  if (!AddFolders(&entry.name)) return false;
  return entry.name < seek_ || Add(std::move(entry));
}

// Adds the folders before the name `up_to`, or all of them for nullptr. Does not add a folder of
// that name, because the name may be both an item and a prefix.
bool ListingPage::AddFolders(const std::string* up_to) {
  for (; folders_ < query_.folders.size(); ++folders_) {
    const std::string& folder = query_.folders[folders_];
    if (up_to != nullptr && folder >= *up_to) return true;
    if (folder >= seek_ && !Add({folder, true})) return false;
  }
  return true;
}

void ListingPage::Finish() {
  if (!more_) (void)AddFolders(nullptr);
}

bool ListingPage::Add(PageEntry entry) {
  const std::string& name = entry.name;
  if (!name.starts_with(query_.prefix)) return name < query_.prefix;
  if (BeyondEnd(name)) return false;
  if (glob_ && !glob_->Matches(name)) {
    const std::string& literal = glob_->literal_prefix();
    return name < literal || name.starts_with(literal);
  }
  const size_t at = query_.delimiter.empty() ? std::string::npos
                                             : name.find(query_.delimiter, query_.prefix.size());
  const std::string group =
      at == std::string::npos ? "" : name.substr(0, at + query_.delimiter.size());
  const bool as_item =
      !entry.is_prefix && (group.empty() || (query_.include_trailing_delimiter && group == name));
  const size_t wanted = (group.empty() ? 0u : 1u) + (as_item ? 1u : 0u);
  if (!entries_.empty() && entries_.size() + wanted > Limit(query_)) {
    more_ = true;
    return false;
  }
  if (as_item) entries_.push_back(std::move(entry));
  if (!group.empty()) {
    entries_.push_back({group, true});
    seek_ = NameAfterPrefix(group);
  }
  return true;
}

std::string ListingPage::NextPageToken() const {
  if (!more_) return "";
  const PageEntry& last = entries_.back();
  if (last.is_prefix) return TokenOf(kAfterPrefix + last.name);
  if (last.generation == 0) return PageTokenAfter(last.name);
  return TokenOf(kAfterVersion + std::to_string(last.generation) + "/" + last.name);
}

std::string PageTokenAfter(const std::string& name) { return TokenOf(kAfterName + name); }

Result<PageStart> ParsePageToken(const std::string& token) {
  if (token.empty()) return PageStart{};
  const auto text = FromBase64(token);
  if (!text || text->size() < 2 || !IsUtf8(*text)) return errors::PageTokenInvalid(token);
  const std::string rest = text->substr(1);
  if (text->front() == kAfterPrefix) return PageStart{NameAfterPrefix(rest)};
  if (text->front() == kAfterName) return PageStart{rest + '\0'};
  int64_t generation = 0;
  const char* const last = rest.data() + rest.size();
  const auto [end, error] = std::from_chars(rest.data(), last, generation);
  if (text->front() != kAfterVersion || error != std::errc() || end == last || *end != '/') {
    return errors::PageTokenInvalid(token);
  }
  return PageStart{std::string(end + 1, last), generation + 1};
}

}  // namespace caip::gcs
