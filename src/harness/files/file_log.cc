#include "harness/files/file_log.h"

#include <algorithm>
#include <utility>

#include "base/files.h"

namespace caip::harness {
namespace {

FileNode WithAttributes(FileNode node, const FileNode& other) {
  node.mode = other.mode;
  node.user = other.user;
  node.group = other.group;
  node.modified_ns = other.modified_ns;
  node.has_set_time = other.has_set_time;
  return node;
}

// The node with the changed blocks in place of its own.
FileNode WithBlocks(const FileNode& before, const FileChange& change) {
  FileNode node = WithSize(before, change.node.size);
  for (size_t i = 0; i < change.node.blocks.size(); ++i) {
    const size_t at = change.first_block + i;
    if (at < node.blocks.size()) node.blocks.Set(at, change.node.blocks[i]);
  }
  return WithAttributes(std::move(node), change.node);
}

std::string DirectoryOf(const std::string& name) {
  return name.substr(0, std::min(name.rfind('/'), name.size()));
}

// The bytes of a node's block; "" if it has fewer blocks.
Result<std::string> BytesOf(const FileNode& node, size_t index, const BlockStore& store) {
  if (index >= node.blocks.size()) return std::string();
  const Block& block = node.blocks[index];
  if (block.kind != Block::Kind::kAtFirst) return store.Read(block);
  return ReadPart(node.at_first, index * kBlockBytes, block.size);
}

// The change as it is after its first `bytes` bytes.
Result<FileChange> CutOff(const FileChange& whole, const FileNode& before, uint64_t bytes,
                          BlockStore& store) {
  FileChange part = whole;
  const uint64_t end = whole.begin + std::min(bytes, whole.count);
  part.count = bytes;
  part.node.size = std::max(before.size, end);
  for (size_t i = 0; i < part.node.blocks.size(); ++i) {
    const size_t index = whole.first_block + i;
    const uint64_t place = index * kBlockBytes;
    if (place + kBlockBytes <= end) continue;
    ASSIGN_OR_RETURN(std::string text, BytesOf(before, index, store));
    ASSIGN_OR_RETURN(const std::string written, store.Read(whole.node.blocks[i]));
    const uint64_t kept = end > place ? std::min<uint64_t>(end - place, written.size()) : 0;
    if (text.size() < kept) text.resize(kept, '\0');
    text.replace(0, kept, written, 0, kept);
    const uint64_t room = part.node.size > place ? part.node.size - place : 0;
    text.resize(std::min<uint64_t>(room, kBlockBytes), '\0');
    ASSIGN_OR_RETURN(const Block block, store.Put(text));
    part.node.blocks.Set(i, block);
  }
  const size_t all = BlocksFor(part.node.size);
  part.node.blocks.Shorten(all - std::min(all, whole.first_block));
  return part;
}

// All but the times of directories.
void ApplyToNodes(const FileChange& change, FileTree& tree) {
  using Kind = FileChange::Kind;
  switch (change.kind) {
    case Kind::kMake:
      return tree.Add(change.name, change.number, change.node);
    case Kind::kLink:
      return tree.Link(change.name, change.number);
    case Kind::kRename:
      return tree.Rename(change.name, change.other);
    case Kind::kExchange:
      return tree.Exchange(change.name, change.other);
    case Kind::kDelete:
      return tree.Remove(change.name);
    case Kind::kSize:
    case Kind::kContents:
      if (const FileNodePtr before = tree.Find(change.number)) {
        tree.Change(change.number, WithBlocks(*before, change));
      }
      return;
    case Kind::kAttributes:
      if (const FileNodePtr before = tree.Find(change.number)) {
        tree.Change(change.number, WithAttributes(*before, change.node));
      }
      return;
    default:
      return;
  }
}

}  // namespace

void Apply(const FileChange& change, FileTree& tree) {
  ApplyToNodes(change, tree);
  if (change.directories_ns == 0) return;
  tree.SetTimeOfDirectory(DirectoryOf(change.name), change.directories_ns);
  if (change.other.empty()) return;
  tree.SetTimeOfDirectory(DirectoryOf(change.other), change.directories_ns);
}

int64_t FileLog::CountEvent(const std::string& replica, const StorageEvent& event) {
  const bool leads_elsewhere = !event.from.empty() && event.from != event.object;
  if (leads_elsewhere) ++events_[{replica, event.op, event.from}];
  return ++events_[{replica, event.op, event.object}];
}

void FileLog::Number(const std::vector<size_t>& changes, int64_t nth) {
  for (const size_t index : changes) changes_[index].nth = nth;
}

size_t FileLog::Add(FileChange change) {
  if (change.kind == FileChange::Kind::kMake) next_ = std::max(next_, change.number) + 1;
  Apply(change, now_);
  if (!change.op.empty()) {
    index_[{change.replica, change.op, change.object}].push_back(changes_.size());
  }
  changes_.push_back(std::move(change));
  keys_.push_back(now_.Key());
  return changes_.size() - 1;
}

void FileLog::CountEarlier(const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto* operation = event.As<StorageEvent>();
    if (!operation) continue;
    CountEvent(event.replica, *operation);
    earlier_[{event.replica, operation->op, operation->object}].push_back(operation->bytes);
  }
}

const std::vector<size_t>& FileLog::ChangesOf(const CrashPoint& point) const {
  static const std::vector<size_t> none;
  const auto found = index_.find({point.replica, point.op, point.text});
  return found == index_.end() ? none : found->second;
}

// The event of a file's contents begins when the file is opened and ends when it is closed. The
// trigger of a point in the middle counts the files that became so long.
std::optional<FileCut> FileLog::CutInContents(const CrashPoint& point) const {
  const auto earlier = earlier_.find({point.replica, point.op, point.text});
  int64_t reached = 0;
  if (earlier != earlier_.end()) {
    reached =
        std::ranges::count_if(earlier->second, [&](uint64_t bytes) { return bytes >= *point.mid; });
  }
  int64_t number = 0;    // of the event that the loop is in
  bool counted = false;  // it has reached the point's bytes
  uint64_t done = 0;
  for (const size_t i : ChangesOf(point)) {
    const FileChange& change = changes_[i];
    if (!change.mid || change.nth == 0) continue;
    if (change.nth != number) counted = false;
    if (change.nth != number) done = 0;
    number = change.nth;
    if (!counted && *change.mid >= *point.mid) {
      counted = true;
      if (++reached == point.nth) {
        if (*change.mid == *point.mid) return FileCut{i + 1};
        return FileCut{i, *point.mid - done};
      }
    }
    done = *change.mid;
  }
  return std::nullopt;
}

std::optional<FileCut> FileLog::CutOfEvent(const CrashPoint& point) const {
  if (point.mid) return CutInContents(point);
  std::optional<size_t> first;
  size_t last = 0;
  for (const size_t i : ChangesOf(point)) {
    if (changes_[i].nth != point.nth) continue;
    if (!first) first = i;
    last = i;
  }
  if (!first) return std::nullopt;
  return FileCut{point.before ? *first : last + 1};
}

FileCut FileLog::CutAt(const CrashPoint& point, size_t acts) const {
  if (const auto cut = CutOfEvent(point)) return *cut;
  auto end = std::ranges::partition_point(
      changes_, [acts](const FileChange& change) { return change.acts < acts; });
  // Before the next act of replicas, those that belong to no event have been made.
  while (point.before && end != changes_.end() && end->acts == acts && end->op.empty()) ++end;
  return FileCut{static_cast<size_t>(end - changes_.begin())};
}

Result<FileTree> FileLog::TreeAt(const FileCut& cut, BlockStore& store) const {
  FileTree tree = begin_;
  for (size_t i = 0; i < std::min(cut.changes, changes_.size()); ++i) Apply(changes_[i], tree);
  if (cut.bytes == 0 || cut.changes >= changes_.size()) return tree;
  const FileChange& next = changes_[cut.changes];
  const FileNodePtr before = tree.Find(next.number);
  if (!before) return tree;
  ASSIGN_OR_RETURN(const FileChange part, CutOff(next, *before, cut.bytes, store));
  Apply(part, tree);
  return tree;
}

std::vector<BegunOperation> FileLog::BegunAt(const FileCut& cut) const {
  std::map<EventName, uint64_t> begun;
  for (size_t i = 0; i < std::min(cut.changes, changes_.size()); ++i) {
    const FileChange& change = changes_[i];
    if (change.op.empty()) continue;
    const EventName name{change.replica, change.op, change.object};
    if (change.mid) begun[name] = *change.mid;
    if (!change.mid) begun.erase(name);
  }
  if (cut.bytes > 0 && cut.changes < changes_.size()) {
    const FileChange& next = changes_[cut.changes];
    begun[{next.replica, next.op, next.object}] += cut.bytes;
  }
  std::vector<BegunOperation> operations;
  for (const auto& [name, bytes] : begun) {
    const auto& [replica, op, object] = name;
    operations.push_back({replica, op, object, bytes});
  }
  return operations;
}

std::string FileLog::KeyAt(const FileCut& cut) const {
  const size_t changes = std::min(cut.changes, keys_.size());
  const uint64_t key = changes == 0 ? begin_.Key() : keys_[changes - 1];
  if (cut.bytes == 0) return std::to_string(key);
  return std::to_string(key) + " " + std::to_string(changes) + "+" + std::to_string(cut.bytes);
}

}  // namespace caip::harness
