#pragma once
// Directories and files at one moment of a run, by their names in events.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "harness/files/block_list.h"

namespace caip::harness {

/// A file, a directory or a symbolic link, whatever its names are.
struct FileNode {
  enum class Kind { kFile, kDirectory, kLink };
  Kind kind = Kind::kFile;
  mode_t mode = 0644;
  uid_t user = 0;  // the owner
  gid_t group = 0;
  int64_t modified_ns = 0;    // since 1970
  bool has_set_time = false;  // a program chose modified_ns: not the time of a change
  uint64_t size = 0;
  BlockList blocks = {};
  std::string text = {};  // kLink
  Path at_first = {};     // has the bytes of blocks of kind kAtFirst
};
using FileNodePtr = std::shared_ptr<const FileNode>;

/// Identifies a node. A file with two names has one number.
using NodeNumber = int64_t;

class FileTree {
 public:
  /// Adds a node with its first name.
  void Add(const std::string& name, NodeNumber number, FileNode node);
  /// Gives a node one more name. Replaces what had the name.
  void Link(const std::string& name, NodeNumber number);
  /// Renames a file, or a directory with all that is in it. Replaces what had the new name.
  void Rename(const std::string& from, const std::string& to);
  void Exchange(const std::string& one, const std::string& other);
  /// Removes a name, and the names below it.
  void Remove(const std::string& name);
  /// Replaces the node; does nothing if it has no name.
  void Change(NodeNumber number, FileNode node);
  /// Sets the time at which a directory was changed; does nothing if the name does not exist.
  void SetTimeOfDirectory(const std::string& name, int64_t modified_ns);

  /// Null if the name does not exist.
  FileNodePtr Find(const std::string& name) const;
  FileNodePtr Find(NodeNumber number) const;
  /// -1 if the name does not exist.
  NodeNumber NumberOf(const std::string& name) const;
  /// The highest number; 0 if there are no files.
  NodeNumber LastNumber() const { return nodes_.empty() ? 0 : nodes_.rbegin()->first; }
  const std::map<std::string, NodeNumber>& names() const { return names_; }

  /// A number that is equal for trees with equal names, kinds, modes, owners and bytes. Times do
  /// not count, except those that a program chose.
  uint64_t Key() const { return key_; }

 private:
  uint64_t KeyOf(const std::string& name, NodeNumber number) const;
  void Forget(NodeNumber number);

  std::map<std::string, NodeNumber> names_;
  std::map<NodeNumber, FileNodePtr> nodes_;
  std::map<NodeNumber, uint64_t> digests_;  // of the nodes
  std::multimap<NodeNumber, std::string> names_of_;
  uint64_t key_ = 0;  // the sum of the names' keys, so that a change costs little
};

/// Whether all bytes of the file are those before the run.
bool IsAtFirst(const FileNode& node);

/// The number of blocks of a file of this size.
size_t BlocksFor(uint64_t bytes);

/// The node with another size: cut off, or with zeros at its end. The block at the cut is read
/// again by the caller if its bytes matter.
FileNode WithSize(FileNode node, uint64_t bytes);

}  // namespace caip::harness
