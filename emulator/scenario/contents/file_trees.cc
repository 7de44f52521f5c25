// Reads and writes whole trees: file_recorder.h.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "emulator/scenario/contents/file_recorder.h"
#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

using harness::Block;
using harness::FileNode;
using harness::FileTree;
using harness::kBlockBytes;

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

// Replicas change files at any time. To open a pipe for reading waits for its writer.
Fd OpenRegularFile(const Path& path) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  Fd file(::open(path.c_str(), kFlags));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return Fd();
  if (S_ISREG(status.st_mode)) return file;
  file.Close();
  errno = ENOENT;
  return file;
}

void SetOwner(const Path& path, uid_t user, gid_t group) {
  if (::geteuid() == 0 && ::lchown(path.c_str(), user, group) != 0) return;  // it keeps caip's user
}

std::optional<FileNode> ShapeAt(const Path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  FileNode node{.mode = status.st_mode & 07777, .user = status.st_uid, .group = status.st_gid};
  node.modified_ns = status.st_mtim.tv_sec * kNanosecondsPerSecond + status.st_mtim.tv_nsec;
  std::error_code error;
  if (S_ISDIR(status.st_mode)) {
    node.kind = FileNode::Kind::kDirectory;
  } else if (S_ISLNK(status.st_mode)) {
    node.kind = FileNode::Kind::kLink;
    node.text = std::filesystem::read_symlink(path, error).string();
  } else if (S_ISREG(status.st_mode)) {
    node.size = static_cast<uint64_t>(status.st_size);
    node.at_first = path;
  } else {
    return std::nullopt;
  }
  return node;
}

std::optional<FileNode> NodeAt(const Path& path) {
  auto node = ShapeAt(path);
  if (!node || node->kind != FileNode::Kind::kFile) return node;
  for (size_t i = 0; i < harness::BlocksFor(node->size); ++i) {
    const uint64_t size = std::min<uint64_t>(kBlockBytes, node->size - i * kBlockBytes);
    node->blocks.Append({Block::Kind::kAtFirst, static_cast<uint32_t>(size), 0, i});
  }
  return node;
}

namespace {

// Calls `take` with each name and path in the directory, parents first. Links are not followed.
template <typename Take>
void EachBelow(const std::string& name, const Path& directory, Take take) {
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(directory, error), end; !error && at != end; at.increment(error)) {
    take(name + "/" + at->path().lexically_relative(directory).string(), at->path());
  }
}

// Numbers nodes. Several names with one inode are one node.
class Numbers {
 public:
  explicit Numbers(const FileTree& files)
      : next_(static_cast<harness::NodeNumber>(files.names().size())) {}

  /// The number, and whether the file is new.
  std::pair<harness::NodeNumber, bool> Of(const Path& path) {
    struct stat status {};
    const bool is_shared =
        ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1;
    if (!is_shared) return {++next_, true};
    const auto [found, is_new] = known_.try_emplace({status.st_dev, status.st_ino}, next_ + 1);
    next_ += is_new ? 1 : 0;
    return {found->second, is_new};
  }

 private:
  harness::NodeNumber next_;
  std::map<std::pair<dev_t, ino_t>, harness::NodeNumber> known_;
};

}  // namespace

void AddTree(const std::string& name, const Path& directory, FileTree& files,
             const std::function<bool(const Path& directory)>& is_left_out) {
  Numbers numbers(files);
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(directory, error), end; !error && at != end; at.increment(error)) {
    auto node = NodeAt(at->path());
    if (!node) continue;
    if (node->kind == FileNode::Kind::kDirectory && is_left_out(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    const std::string file = name + "/" + at->path().lexically_relative(directory).string();
    const auto [number, is_new] = numbers.Of(at->path());
    is_new ? files.Add(file, number, *std::move(node)) : files.Link(file, number);
  }
}

Status AddCopies(const std::string& name, const Path& directory, harness::BlockStore& store,
                 FileTree& files) {
  Status outcome = Ok{};
  Numbers numbers(files);
  EachBelow(name, directory, [&](const std::string& file, const Path& path) {
    auto node = NodeAt(path);
    if (!node || !outcome.ok()) return;
    for (size_t i = 0; i < node->blocks.size() && outcome.ok(); ++i) {
      const auto bytes = ReadPart(path, i * kBlockBytes, kBlockBytes);
      const auto block = bytes.ok() ? store.Put(*bytes) : Result<Block>(bytes.error());
      if (block.ok()) node->blocks.Set(i, *block);
      if (!block.ok()) outcome = block.error();
    }
    node->at_first.clear();
    files.Add(file, numbers.Of(path).first, *std::move(node));
  });
  return outcome;
}

namespace {

/// Makes a directory of this host equal to a part of a tree.
class TreeWriter {
 public:
  TreeWriter(const FileTree& files, const harness::BlockStore& store, std::string name,
             Path directory, Path copied)
      : files_(files),
        store_(store),
        name_(std::move(name)),
        directory_(std::move(directory)),
        copied_(std::move(copied)) {}

  Status Write() {
    const std::string prefix = name_ + "/";
    std::vector<std::pair<Path, harness::FileNodePtr>> made;
    std::set<Path> wanted;
    for (auto at = files_.names().lower_bound(prefix);
         at != files_.names().end() && at->first.starts_with(prefix); ++at) {
      const Path below = at->first.substr(prefix.size());
      wanted.insert(below);
      made.emplace_back(below, files_.Find(at->second));
    }
    RemoveOthers(wanted);
    for (const auto& [below, node] : made) RETURN_IF_ERROR(WriteNode(below, *node));
    // From the deepest on: a new entry would change the time of its directory, and the mode of a
    // directory may forbid one.
    std::ranges::reverse(made);
    for (const auto& [below, node] : made) SetAttributes(directory_ / below, *node);
    return Ok{};
  }

 private:
  bool IsThere(const Path& below, const FileNode& node) const {
    const auto there = ShapeAt(directory_ / below);
    if (!there || there->kind != node.kind) return false;
    if (node.kind == FileNode::Kind::kDirectory) return true;
    if (node.kind == FileNode::Kind::kLink) return there->text == node.text;
    if (node.size != there->size) return false;
    if (copied_.empty()) return HasBytesOf(directory_ / below, node);
    return node.at_first == copied_ / below && harness::IsAtFirst(node);
  }

  bool HasBytesOf(const Path& path, const FileNode& node) const {
    for (size_t i = 0; i < node.blocks.size(); ++i) {
      const auto there = ReadPart(path, i * kBlockBytes, kBlockBytes);
      const auto wanted = BytesOf(node, i);
      if (!there.ok() || !wanted.ok() || *there != *wanted) return false;
    }
    return true;
  }

  Result<std::string> BytesOf(const FileNode& node, size_t index) const {
    const Block& block = node.blocks[index];
    if (block.kind != Block::Kind::kAtFirst) return store_.Read(block);
    return ReadPart(node.at_first, index * kBlockBytes, block.size);
  }

  void RemoveOthers(const std::set<Path>& wanted) const {
    std::vector<Path> extra;
    EachBelow("", directory_, [&](const std::string& name, const Path& path) {
      if (!wanted.contains(name.substr(1))) extra.push_back(path);
    });
    for (const Path& path : extra) RemoveTree(path);
  }

  Status WriteNode(const Path& below, const FileNode& node) {
    const Path path = directory_ / below;
    std::error_code error;
    const auto number = files_.NumberOf(name_ + "/" + below.string());
    const auto [first, is_first] = first_names_.try_emplace(number, path);
    if (IsThere(below, node)) return Ok{};
    RemoveTree(path);
    if (!is_first) {
      std::filesystem::create_hard_link(first->second, path, error);
    } else if (node.kind == FileNode::Kind::kDirectory) {
      std::filesystem::create_directory(path, error);
    } else if (node.kind == FileNode::Kind::kLink) {
      std::filesystem::create_symlink(node.text, path, error);
    } else {
      return WriteContents(path, node);
    }
    return error ? Status(errors::CannotRestore(path, error.value())) : Ok{};
  }

  Status WriteContents(const Path& path, const FileNode& node) const {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid()) return errors::CannotRestore(path, errno);
    for (size_t i = 0; i < node.blocks.size(); ++i) {
      const Block& block = node.blocks[i];
      if (block.kind == Block::Kind::kZeros) continue;
      const uint64_t place = i * kBlockBytes;
      ASSIGN_OR_RETURN(const std::string bytes, BytesOf(node, i));
      const ssize_t count =
          ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(place));
      if (count != static_cast<ssize_t>(bytes.size())) return errors::CannotRestore(path, errno);
    }
    if (::ftruncate(file.get(), static_cast<off_t>(node.size)) != 0) {
      return errors::CannotRestore(path, errno);
    }
    return Ok{};
  }

  // Also of files that stay: a program may have changed nothing else. Trainers look for the newest
  // file.
  static void SetAttributes(const Path& path, const FileNode& node) {
    SetOwner(path, node.user, node.group);
    if (node.kind != FileNode::Kind::kLink) ::chmod(path.c_str(), node.mode);
    const timespec time{node.modified_ns / kNanosecondsPerSecond,
                        node.modified_ns % kNanosecondsPerSecond};
    const timespec times[] = {time, time};
    ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }

  const FileTree& files_;
  const harness::BlockStore& store_;
  std::string name_;
  Path directory_;
  Path copied_;
  std::map<harness::NodeNumber, Path> first_names_;
};

}  // namespace

Status RestoreTree(const FileTree& files, const harness::BlockStore& store, const std::string& name,
                   const Path& directory, const Path& copied) {
  return TreeWriter(files, store, name, directory, copied).Write();
}

}  // namespace caip::scenario
