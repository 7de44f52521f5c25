#include "harness/files/file_tree.h"

#include <algorithm>
#include <utility>

namespace caip::harness {
namespace {

bool IsAtOrBelow(const std::string& name, const std::string& directory) {
  return name.starts_with(directory) &&
         (name.size() == directory.size() || name[directory.size()] == '/');
}

uint64_t DigestOfNode(const FileNode& node) {
  const std::string time = node.has_set_time ? " at " + std::to_string(node.modified_ns) : "";
  const uint64_t digest = DigestOf(
      std::to_string(static_cast<int>(node.kind)) + " " + std::to_string(node.mode & 07777) + " " +
      std::to_string(node.user) + ":" + std::to_string(node.group) + " " +
      std::to_string(node.size) + time + " " + node.text + " " + node.at_first.string());
  return digest + node.blocks.digest();
}

}  // namespace

bool IsAtFirst(const FileNode& node) {
  for (size_t i = 0; i < node.blocks.size(); ++i) {
    if (node.blocks[i].kind != Block::Kind::kAtFirst) return false;
  }
  return true;
}

size_t BlocksFor(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

FileNode WithSize(FileNode node, uint64_t bytes) {
  node.size = bytes;
  node.blocks.Shorten(BlocksFor(bytes));
  const auto size_at = [bytes](size_t index) {
    return static_cast<uint32_t>(std::min<uint64_t>(kBlockBytes, bytes - index * kBlockBytes));
  };
  const size_t last = node.blocks.size() - 1;
  if (!node.blocks.empty() && node.blocks[last].size > size_at(last)) {
    Block cut = node.blocks[last];
    cut.size = size_at(last);
    cut.digest += uint64_t{cut.size} * kBlockBytes + 1;
    node.blocks.Set(last, cut);
  }
  for (size_t i = node.blocks.size(); i < BlocksFor(bytes); ++i) {
    node.blocks.Append(ZeroBlock(size_at(i)));
  }
  return node;
}

uint64_t FileTree::KeyOf(const std::string& name, NodeNumber number) const {
  return DigestOf(name + '\n' + std::to_string(digests_.at(number)));
}

void FileTree::Add(const std::string& name, NodeNumber number, FileNode node) {
  Remove(name);
  digests_[number] = DigestOfNode(node);
  nodes_[number] = std::make_shared<const FileNode>(std::move(node));
  Link(name, number);
}

void FileTree::Link(const std::string& name, NodeNumber number) {
  if (!nodes_.contains(number) || NumberOf(name) == number) return;
  Remove(name);
  names_[name] = number;
  names_of_.emplace(number, name);
  key_ += KeyOf(name, number);
}

void FileTree::Rename(const std::string& from, const std::string& to) {
  if (from == to || !names_.contains(from) || NumberOf(from) == NumberOf(to)) return;
  std::vector<std::pair<std::string, NodeNumber>> moved;
  for (auto at = names_.lower_bound(from); at != names_.end() && at->first.starts_with(from);
       ++at) {
    if (IsAtOrBelow(at->first, from)) moved.emplace_back(at->first.substr(from.size()), at->second);
  }
  std::map<NodeNumber, FileNodePtr> held;
  for (const auto& [rest, number] : moved) held[number] = nodes_.at(number);
  Remove(to);
  Remove(from);
  for (const auto& [rest, number] : moved) {
    if (!nodes_.contains(number)) {
      nodes_[number] = held.at(number);
      digests_[number] = DigestOfNode(*held.at(number));
    }
    Link(to + rest, number);
  }
}

void FileTree::Exchange(const std::string& one, const std::string& other) {
  const std::string aside = one + "\nexchanged";
  Rename(one, aside);
  Rename(other, one);
  Rename(aside, other);
}

void FileTree::Remove(const std::string& name) {
  for (auto at = names_.lower_bound(name); at != names_.end() && at->first.starts_with(name);) {
    if (!IsAtOrBelow(at->first, name)) {
      ++at;
      continue;
    }
    const NodeNumber number = at->second;
    key_ -= KeyOf(at->first, number);
    const auto [begin, end] = names_of_.equal_range(number);
    const auto mine =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == at->first; });
    names_of_.erase(mine);
    at = names_.erase(at);
    if (!names_of_.contains(number)) Forget(number);
  }
}

void FileTree::Forget(NodeNumber number) {
  nodes_.erase(number);
  digests_.erase(number);
}

void FileTree::Change(NodeNumber number, FileNode node) {
  if (!nodes_.contains(number)) return;
  const auto [begin, end] = names_of_.equal_range(number);
  for (auto at = begin; at != end; ++at) key_ -= KeyOf(at->second, number);
  digests_[number] = DigestOfNode(node);
  nodes_[number] = std::make_shared<const FileNode>(std::move(node));
  for (auto at = begin; at != end; ++at) key_ += KeyOf(at->second, number);
}

void FileTree::SetTimeOfDirectory(const std::string& name, int64_t modified_ns) {
  const FileNodePtr before = Find(name);
  if (!before || before->kind != FileNode::Kind::kDirectory) return;
  const NodeNumber number = NumberOf(name);
  FileNode node = *before;
  node.modified_ns = modified_ns;
  node.has_set_time = false;
  if (before->has_set_time) return Change(number, std::move(node));
  nodes_[number] = std::make_shared<const FileNode>(std::move(node));  // with the same digest
}

FileNodePtr FileTree::Find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : nodes_.at(found->second);
}

FileNodePtr FileTree::Find(NodeNumber number) const {
  const auto found = nodes_.find(number);
  return found == nodes_.end() ? nullptr : found->second;
}

NodeNumber FileTree::NumberOf(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? -1 : found->second;
}

}  // namespace caip::harness
