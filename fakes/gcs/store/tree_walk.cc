#include "fakes/gcs/store/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/object_path.h"

namespace caip::gcs {
namespace {

constexpr size_t kWorthKnowing = 256;  // entries
constexpr size_t kKnownEntriesMax = 2'000'000;
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

  // Adds what is in `path`; `lead` is what a cut component had in the directories above.
  void Read(const std::string& path, const std::string& lead, Fd directory) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(directory.Release()),
                                                      &::closedir);
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view leaf = entry->d_name;
      if (leaf == "." || leaf == "..") continue;
      const unsigned char type = TypeOf(::dirfd(entries.get()), *entry);
      if (type == DT_REG || type == DT_DIR) Add(path, lead, leaf, type == DT_DIR);
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

  void Add(const std::string& above, const std::string& lead, std::string_view leaf,
           bool directory) {
    std::string path = above.empty() ? std::string(leaf) : above + "/" + std::string(leaf);
    if (lead.empty() && IsPlainPiece(leaf)) {
      entries_.push_back({std::string(leaf) + (directory ? "/" : ""), std::move(path), directory});
      return;
    }
    const PathPiece piece = DecodePiece(leaf);
    if (directory && piece.kind == PathPiece::Kind::kContinues) {
      has_cut_components_ = true;
      Fd below = OpenBeneath(bucket_directory_, path, O_RDONLY | O_DIRECTORY);
      const bool sane = lead.size() + piece.text.size() <= kObjectNameBytesMax;
      if (below.valid() && sane) Read(path, lead + piece.text, std::move(below));
      return;
    }
    const std::string key = lead + piece.text + (directory ? "/" : "");
    const auto name = NameOfPath(directory ? path + "/x" : path);  // is it a name's own path?
    if (name != prefix_ + key + (directory ? "x" : "")) return;
    entries_.push_back({key, std::move(path), directory});
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

  bool Below(const std::string& path, const std::string& prefix) {
    const TreeEntries entries = cache_.Read(bucket_directory_, path, prefix);
    for (auto at = First(*entries, prefix); at != entries->end();) {
      const std::string name = prefix + at->key;
      const std::string& seek = visitor_.seek();
      if (seek > name && !(at->directory && seek.starts_with(name))) {
        const auto next = First(*entries, prefix);  // leap: a large group may have been passed
        at = next > at ? next : std::next(at);
        continue;
      }
      if (at->directory ? visitor_.WantsBelow(name) && !Below(at->path, name)
                        : name.size() <= kObjectNameBytesMax && !visitor_.Visit(name, at->path)) {
        return false;
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
};

}  // namespace

TreeEntries DirectoryCache::Read(int bucket_directory, const std::string& path,
                                 const std::string& prefix) {
  static const TreeEntries nothing = std::make_shared<const std::vector<TreeEntry>>();
  Fd directory = OpenBeneath(bucket_directory, path, O_RDONLY | O_DIRECTORY);
  struct stat status {};
  if (!directory.valid() || ::fstat(directory.get(), &status) != 0) return nothing;
  const std::pair<uint64_t, uint64_t> key(status.st_dev, status.st_ino);
  const int64_t modified = IdentityOf(status).modified_ns;
  {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    if (at != known_.end() && at->second.modified_ns == modified && at->second.path == path) {
      return at->second.entries;
    }
  }
  const auto before = FileSystemNow();
  DirectoryReader reader(bucket_directory, prefix);
  reader.Read(path, "", std::move(directory));
  const auto entries = std::make_shared<const std::vector<TreeEntry>>(reader.Take());
  if (entries->size() < kWorthKnowing || reader.has_cut_components() ||
      before.count() - modified < kTick.count()) {
    return entries;
  }
  const std::lock_guard lock(mutex_);
  if (entries_ + entries->size() > kKnownEntriesMax) {
    known_.clear();
    entries_ = 0;
  }
  entries_ += entries->size();
  known_[key] = {path, modified, entries};
  return entries;
}

bool WalkTree(int bucket_directory, DirectoryCache& cache, TreeVisitor& visitor) {
  return Walk(bucket_directory, cache, visitor).Below("", "");
}

}  // namespace caip::gcs
