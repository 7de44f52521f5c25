#pragma once
// Replicas of a run: their roles, which are data, and their names.

#include <compare>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::run {

/// One replica of a run: the role of its group and a zero-based index. The order of replicas is
/// that of the run's specification, not that of these values.
struct ReplicaId {
  std::string role;
  int index = 0;
  auto operator<=>(const ReplicaId&) const = default;
};

/// "worker-replica-0": the name of a replica in directories, journals and random streams. An API
/// may show it under another name.
std::string Name(const ReplicaId& replica);

/// One value for each replica of a run, in the run's order.
template <typename T>
class ByReplica {
 public:
  using Entry = std::pair<ReplicaId, T>;

  /// The value of `id`; a new replica comes last.
  T& operator[](const ReplicaId& id) {
    const auto found = find(id);
    return found != end() ? found->second : entries_.emplace_back(id, T{}).second;
  }
  /// The value of a replica that has one. Throws std::out_of_range otherwise.
  T& at(const ReplicaId& id) { return Found(find(id)); }
  const T& at(const ReplicaId& id) const { return Found(find(id)); }
  auto find(const ReplicaId& id) { return Find(*this, id); }
  auto find(const ReplicaId& id) const { return Find(*this, id); }
  bool contains(const ReplicaId& id) const { return find(id) != end(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  template <typename Iterator>
  auto& Found(Iterator found) const {
    if (found == end()) throw std::out_of_range("no such replica");
    return found->second;
  }
  template <typename Self>
  static auto Find(Self& self, const ReplicaId& id) {
    auto at = self.entries_.begin();
    while (at != self.entries_.end() && at->first != id) ++at;
    return at;
  }
  std::vector<Entry> entries_;
};

/// A directory of this host that a replica sees at a path of its own.
struct ShownDirectory {
  std::string directory;  // of this host; "" nothing stands for it, and the replica cannot start
  std::string shown;      // absolute, normal
  bool operator==(const ShownDirectory&) const = default;
};

}  // namespace caip::run
