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
  uint64_t digest = DigestOf(std::to_string(static_cast<int>(node.kind)) + " " +
                             std::to_string(node.mode & 07777) + " " + std::to_string(node.size) +
                             " " + node.text + " " + node.at_first.string());
  uint64_t place = 1;
  for (const Block& block : node.blocks) {
    const bool is_at_first = block.kind == Block::Kind::kAtFirst;
    digest += (block.digest + (is_at_first ? 1 : 0)) * (2 * place + 1);
    ++place;
  }
  return digest;
}

}  // namespace

size_t BlocksFor(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

FileNode WithSize(FileNode node, uint64_t bytes) {
  const size_t before = node.blocks.size();
  node.size = bytes;
  node.blocks.resize(BlocksFor(bytes));
  for (size_t i = before > 0 ? before - 1 : 0; i < node.blocks.size(); ++i) {
    const uint64_t size = std::min<uint64_t>(kBlockBytes, bytes - i * kBlockBytes);
    if (i >= before) {
      node.blocks[i] = ZeroBlock(size);
    } else if (node.blocks[i].size > size) {
      node.blocks[i].size = static_cast<uint32_t>(size);
      node.blocks[i].digest += size * kBlockBytes + 1;
    }
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
