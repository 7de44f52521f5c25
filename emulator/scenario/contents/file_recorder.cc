#include "emulator/scenario/contents/file_recorder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

using harness::Block;
using harness::FileNode;
using harness::kBlockBytes;
using harness::NodeNumber;
using Kind = host::FileOperation::Kind;

/// A file that is read in blocks.
class BlockFile {
 public:
  static Result<BlockFile> Open(const Path& path) {
    Fd file = OpenRegularFile(path);
    if (!file.valid()) return errors::CannotReadVolume(path, errno);
    return BlockFile(path, std::move(file));
  }
  /// Valid until the next call.
  Result<std::string_view> Read(size_t index) {
    const ssize_t count =
        ::pread(file_.get(), bytes_.data(), bytes_.size(), static_cast<off_t>(index * kBlockBytes));
    if (count < 0) return errors::CannotReadVolume(path_, errno);
    return std::string_view(bytes_.data(), static_cast<size_t>(count));
  }

 private:
  BlockFile(Path path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

  Path path_;
  Fd file_;
  std::string bytes_ = std::string(kBlockBytes, '\0');
};

// Whether the block of an earlier state holds the bytes.
bool HoldsBytes(const FileNode& node, size_t index, std::string_view bytes) {
  if (index >= node.blocks.size() || node.blocks[index].size != bytes.size()) return false;
  const Block& block = node.blocks[index];
  if (block.kind != Block::Kind::kAtFirst) return block.digest == harness::DigestOf(bytes);
  const auto before = ReadPart(node.at_first, index * kBlockBytes, kBlockBytes);
  return before.ok() && *before == bytes;
}

int64_t NanosecondsNow() {
  return SystemClock().Now().time_since_epoch().count();  // the clock of the file system
}

// The time of a file's change is up to 10 ms old, by the kernel's coarse clock.
const int64_t kProcessBegan = NanosecondsNow() - 20'000'000;

// Whether it may be the time of a change in this run, or in an earlier run of the exploration, as
// that of a copy with `cp -p`. Such times differ in each run, so they make no other state.
bool IsTimeOfARun(int64_t modified_ns) {
  return modified_ns >= kProcessBegan && modified_ns <= NanosecondsNow();
}

bool ChangesDirectories(harness::FileChange::Kind kind) {
  using Did = harness::FileChange::Kind;
  return kind == Did::kMake || kind == Did::kLink || kind == Did::kRename ||
         kind == Did::kExchange || kind == Did::kDelete;
}

// The first block of the file that differs from `before`, and the one after the last such block.
Result<std::pair<size_t, size_t>> FindChanged(const Path& path, const FileNode& now,
                                              const FileNode& before) {
  ASSIGN_OR_RETURN(BlockFile file, BlockFile::Open(path));
  std::optional<size_t> first;
  size_t end = 0;
  for (size_t i = 0; i < harness::BlocksFor(now.size); ++i) {
    ASSIGN_OR_RETURN(const std::string_view bytes, file.Read(i));
    if (HoldsBytes(before, i, bytes)) continue;
    first = first.value_or(i);
    end = i + 1;
  }
  return std::pair(first.value_or(0), end);
}

}  // namespace

void FileRecorder::Begin(harness::FileTree files, FilePlaces places) {
  const std::lock_guard lock(mutex_);
  places_ = std::move(places);
  log_ = std::make_shared<harness::FileLog>(std::move(files));
  log_->CountEarlier(earlier_);
  open_.clear();  // of a run before that had to be repeated
}

void FileRecorder::StartOver(harness::FileTree files) {
  const std::lock_guard lock(mutex_);
  log_ = std::make_shared<harness::FileLog>(std::move(files));
  open_.clear();
}

Status FileRecorder::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

std::shared_ptr<const harness::FileLog> FileRecorder::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::optional<Path> FileRecorder::PathOf(const std::string& name) const {
  return places_ ? places_(name) : std::nullopt;
}

// The event of a file is counted at its end. Then all changes since its opening get its number.
FileRecorder::Change FileRecorder::LabelOf(const FileAct& act) {
  Change label;
  label.name = act.event.object;
  label.replica = act.replica;
  label.op = act.event.op;
  label.object = act.event.object;
  label.acts = act.acts;
  const Kind kind = act.operation.kind;
  const bool opens = kind == Kind::kCreate || kind == Kind::kOverwrite;
  if (opens && act.error == 0) open_[label.object].clear();
  if ((opens && act.error == 0) || kind == Kind::kWrite) return label;
  label.nth = log_->CountEvent(label.replica, act.event);
  if (kind == Kind::kDelete && act.error == 0) open_.erase(label.object);  // it has no end
  const auto open =
      kind == Kind::kWhole ? open_.extract(label.object) : decltype(open_)::node_type();
  if (!open.empty()) log_->Number(open.mapped(), label.nth);
  return label;
}

// 0 for a directory that is not in the tree, as the top of a volume.
int64_t FileRecorder::TimeOfDirectory(const std::string& name) const {
  const size_t slash = name.rfind('/');
  const std::string directory = name.substr(0, slash == std::string::npos ? 0 : slash);
  if (log_->now().NumberOf(directory) < 0) return 0;
  const auto path = PathOf(directory);
  const auto shape = path ? ShapeAt(*path) : std::nullopt;
  return shape ? shape->modified_ns : 0;
}

void FileRecorder::Add(Change change) {
  const bool has_no_end = change.nth == 0 && !change.op.empty();
  const std::string object = change.object;
  if (ChangesDirectories(change.kind)) {
    change.directories_ns = TimeOfDirectory(change.name);
    if (change.directories_ns == 0) change.directories_ns = TimeOfDirectory(change.other);
  }
  const size_t index = log_->Add(std::move(change));
  if (has_no_end) open_[object].push_back(index);
}

void FileRecorder::Take(const FileAct& act) {
  const std::lock_guard lock(mutex_);
  if (!outcome_.ok()) return;
  if (act.operation.kind == Kind::kSync) return TakeSync(act);
  if (act.operation.kind == Kind::kAttributes) return TakeAttributes(act);
  Change label = LabelOf(act);
  if (act.error != 0) return;
  Note(act, std::move(label));
  if (!act.operation.is_synced || !outcome_.ok()) return;
  const NodeNumber file = log_->now().NumberOf(act.event.object);
  if (file >= 0) Add({.kind = Change::Kind::kSync, .number = file, .acts = act.acts});
}

void FileRecorder::TakeSync(const FileAct& act) {
  Change sync{.kind = Change::Kind::kSync, .name = act.event.object, .acts = act.acts};
  const NodeNumber file = log_->now().NumberOf(act.event.object);
  sync.number = act.operation.path.empty() ? harness::kEverything
                : file < 0                 ? harness::kNoFile
                                           : file;
  if (act.error == 0) Add(std::move(sync));
}

// The change belongs to no event, so the next one of any replica has it.
void FileRecorder::TakeAttributes(const FileAct& act) {
  Change change{.kind = Change::Kind::kAttributes, .name = act.event.object, .acts = act.acts};
  change.number = log_->now().NumberOf(act.event.object);
  const auto before = log_->now().Find(change.number);
  const auto path = PathOf(act.event.object);
  const auto now = path ? ShapeAt(*path) : std::nullopt;
  if (act.error != 0 || !before || !now || now->kind != before->kind) return;
  change.node.mode = now->mode;
  change.node.user = now->user;
  change.node.group = now->group;
  change.node.modified_ns = now->modified_ns;
  const bool keeps_time = now->modified_ns == before->modified_ns;
  change.node.has_set_time = act.operation.sets_time ? !IsTimeOfARun(now->modified_ns)
                                                     : before->has_set_time && keeps_time;
  Add(std::move(change));
}

void FileRecorder::Note(const FileAct& act, Change change) {
  switch (act.operation.kind) {
    case Kind::kCreate:
    case Kind::kOverwrite:
      return TakeOpening(act, std::move(change));
    case Kind::kWrite:
      return TakeWrite(act, std::move(change));
    case Kind::kWhole:
      return Add(std::move(change));
    case Kind::kTruncate:
      return TakeSize(act, std::move(change));
    case Kind::kRename:
      return TakeRename(act, std::move(change));
    case Kind::kDelete:
      change.kind = Change::Kind::kDelete;
      return Add(std::move(change));
    case Kind::kLink:
      return TakeLink(act, std::move(change));
    case Kind::kSymlink:
    case Kind::kMakeDirectory:
      return TakeNew(act.event.object, std::move(change));
    default:
      return;
  }
}

void FileRecorder::TakeOpening(const FileAct& act, Change change) {
  change.mid = 0;
  if (log_->now().NumberOf(change.name) < 0) return TakeNew(act.event.object, std::move(change));
  TakeSize(act, std::move(change));
}

// The new size, and the block in which the file was cut off or lengthened.
void FileRecorder::TakeSize(const FileAct& act, Change change) {
  const auto before = log_->now().Find(change.name);
  const auto path = PathOf(act.event.object);
  const auto node = path ? ShapeAt(*path) : std::nullopt;
  if (!before || !node || node->size == before->size) return Add(std::move(change));
  change.kind = Change::Kind::kSize;
  change.number = log_->now().NumberOf(change.name);
  change.node = *node;
  const uint64_t edge = std::min(before->size, node->size);
  if (edge % kBlockBytes != 0) outcome_ = AddBlocks(*path, edge, edge + 1, change);
  if (outcome_.ok()) Add(std::move(change));
}

void FileRecorder::TakeWrite(const FileAct& act, Change change) {
  const host::FileOperation& write = act.operation;
  change.mid = static_cast<uint64_t>(write.bytes + write.count);
  const auto path = PathOf(act.event.object);
  const auto node = path ? ShapeAt(*path) : std::nullopt;
  change.number = log_->now().NumberOf(change.name);
  if (!node || change.number < 0) return Add(std::move(change));
  if (write.end < write.count) return TakeChanged(act.event.object, std::move(change));
  change.kind = Change::Kind::kContents;
  change.node = *node;
  change.begin = static_cast<uint64_t>(write.end - write.count);
  change.count = static_cast<uint64_t>(write.count);
  outcome_ = AddBlocks(*path, change.begin, change.begin + change.count, change);
  if (outcome_.ok()) Add(std::move(change));
}

// Reads the blocks that hold the bytes from `begin` to `end`.
Status FileRecorder::AddBlocks(const Path& path, uint64_t begin, uint64_t end,
                               Change& change) const {
  change.first_block = begin / kBlockBytes;
  const size_t last =
      std::min<size_t>(harness::BlocksFor(end), harness::BlocksFor(change.node.size));
  if (change.first_block >= last) return Ok{};
  ASSIGN_OR_RETURN(BlockFile file, BlockFile::Open(path));
  for (size_t i = change.first_block; i < last; ++i) {
    ASSIGN_OR_RETURN(const std::string_view bytes, file.Read(i));
    ASSIGN_OR_RETURN(const Block block, store_->Put(bytes));
    change.node.blocks.Append(block);
  }
  return Ok{};
}

void FileRecorder::TakeMapped(const FileAct& act) {
  const std::lock_guard lock(mutex_);
  if (!outcome_.ok()) return;
  Change change = LabelOf(act);
  TakeChanged(act.event.object, std::move(change));
}

// The bytes from the first changed block to the last one.
void FileRecorder::TakeChanged(const std::string& name, Change change) {
  const auto path = PathOf(name);
  const auto node = path ? ShapeAt(*path) : std::nullopt;
  change.number = log_->now().NumberOf(name);
  const auto before = log_->now().Find(change.number);
  if (!node || !before) return;
  change.kind = Change::Kind::kContents;
  change.node = *node;
  const auto changed = FindChanged(*path, *node, *before);
  if (!changed.ok()) outcome_ = changed.error();
  if (!outcome_.ok()) return;
  const auto [first, end] = *changed;
  change.begin = first * kBlockBytes;
  change.count = std::min<uint64_t>(end * kBlockBytes, node->size) - change.begin;
  outcome_ = AddBlocks(*path, change.begin, change.begin + change.count, change);
  if (outcome_.ok()) Add(std::move(change));
}

// A file, directory or link that has just got this name.
void FileRecorder::TakeNew(const std::string& name, Change change) {
  const auto path = PathOf(name);
  const auto node = path ? ShapeAt(*path) : std::nullopt;
  if (!node) return Add(std::move(change));
  change.kind = Change::Kind::kMake;
  change.name = name;
  change.number = log_->NextNumber();
  change.node = *node;
  change.node.at_first.clear();
  if (node->kind == FileNode::Kind::kFile) outcome_ = AddBlocks(*path, 0, node->size, change);
  if (!outcome_.ok()) return;
  Add(change);
  if (node->kind == FileNode::Kind::kDirectory) TakeEntries(name, *path, change);
}

// What a directory holds that was renamed into a volume. Its entries belong to the same event.
void FileRecorder::TakeEntries(const std::string& name, const Path& directory,
                               const Change& change) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (!ShapeAt(at->path())) continue;  // a pipe, or it is gone
    TakeNew(name + "/" + at->path().filename().string(), change);
  }
}

// Names outside volumes and buckets are not in the tree.
void FileRecorder::TakeRename(const FileAct& act, Change change) {
  const bool was_known = log_->now().NumberOf(act.event.object) >= 0;
  const bool stays = PathOf(act.event.from).has_value();
  if (!was_known && stays) return TakeNew(act.event.from, std::move(change));
  const auto old = PathOf(act.event.object);
  const bool exchanged = old && ShapeAt(*old).has_value();
  change.kind = exchanged ? Change::Kind::kExchange
                : stays   ? Change::Kind::kRename
                          : Change::Kind::kDelete;
  change.other = act.event.from;
  Add(std::move(change));
}

void FileRecorder::TakeLink(const FileAct& act, Change change) {
  change.number = log_->now().NumberOf(act.event.from);
  if (change.number < 0) return TakeNew(act.event.object, std::move(change));
  change.kind = Change::Kind::kLink;
  Add(std::move(change));
}

}  // namespace caip::scenario
