#pragma once
// The members of a JSON object in the order of insertion. base/json_fwd.h makes it the object type
// of nlohmann's class; only that class uses it directly.

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace caip {

/// Like nlohmann::ordered_map, but finds a member of a large object in constant time: there an
/// object of n members takes n * n / 2 comparisons to build. Small objects are searched from the
/// front, which is faster than hashing. As with a std::vector, a new member moves all others.
/// Reading from several threads is safe.
template <class Key, class T, class /*Less*/, class Allocator>
class JsonObject : private std::vector<std::pair<const Key, T>, Allocator> {
  using Members = std::vector<std::pair<const Key, T>, Allocator>;

 public:
  using key_type = Key;
  using mapped_type = T;
  using key_compare = std::equal_to<>;
  using typename Members::allocator_type;
  using typename Members::const_iterator;
  using typename Members::const_pointer;
  using typename Members::const_reference;
  using typename Members::difference_type;
  using typename Members::iterator;
  using typename Members::pointer;
  using typename Members::reference;
  using typename Members::size_type;
  using typename Members::value_type;

  JsonObject() = default;
  template <class Iterator>
  JsonObject(Iterator first, Iterator last) {
    insert(first, last);
  }
  JsonObject(std::initializer_list<value_type> members) { insert(members.begin(), members.end()); }
  JsonObject(const JsonObject& other) : Members(other) { BuildIndex(); }
  JsonObject(JsonObject&& other) noexcept
      : Members(std::move(other)), slots_(std::move(other.slots_)) {}
  JsonObject& operator=(JsonObject other) noexcept {
    Members::swap(other);
    slots_.swap(other.slots_);
    return *this;
  }
  ~JsonObject() = default;

  using Members::begin;
  using Members::capacity;
  using Members::cbegin;
  using Members::cend;
  using Members::empty;
  using Members::end;
  using Members::max_size;
  using Members::size;

  /// Adds a member unless the name exists.
  template <class Name>
  std::pair<iterator, bool> emplace(Name&& name, T&& value) {
    if (const iterator found = find(name); found != end()) return {found, false};
    Members::emplace_back(std::forward<Name>(name), std::move(value));
    AddToIndex();
    return {std::prev(end()), true};
  }
  std::pair<iterator, bool> insert(value_type&& member) {
    return emplace(member.first, std::move(member.second));
  }
  std::pair<iterator, bool> insert(const value_type& member) {
    return emplace(member.first, T(member.second));
  }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(value_type(first->first, first->second));
  }

  template <class Name>
  T& operator[](Name&& name) {
    return emplace(std::forward<Name>(name), T{}).first->second;
  }
  template <class Name>
  T& at(const Name& name) {
    const iterator found = find(name);
    if (found == end()) throw std::out_of_range("key not found");
    return found->second;
  }
  template <class Name>
  const T& at(const Name& name) const {
    return const_cast<JsonObject*>(this)->at(name);
  }

  template <class Name>
  iterator find(const Name& name) {
    return begin() + static_cast<difference_type>(PlaceOf(name));
  }
  template <class Name>
  const_iterator find(const Name& name) const {
    return begin() + static_cast<difference_type>(PlaceOf(name));
  }
  template <class Name>
  size_type count(const Name& name) const {
    return PlaceOf(name) < size() ? 1 : 0;
  }

  size_type erase(const Key& name) {
    const iterator found = find(name);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  iterator erase(iterator member) { return erase(member, std::next(member)); }
  /// The names are const, so that members are built again where they move to.
  iterator erase(iterator first, iterator last) {
    const difference_type place = first - begin();
    const difference_type count = last - first;
    if (count == 0) return first;
    slots_.clear();
    for (iterator to = first; to + count != end(); ++to) {
      std::destroy_at(&*to);
      new (&*to) value_type(std::move(*(to + count)));
    }
    for (difference_type i = 0; i < count; ++i) Members::pop_back();
    BuildIndex();
    return begin() + place;
  }
  void clear() noexcept {
    Members::clear();
    slots_.clear();
  }

  friend bool operator==(const JsonObject& a, const JsonObject& b) {
    return static_cast<const Members&>(a) == static_cast<const Members&>(b);
  }
  friend std::partial_ordering operator<=>(const JsonObject& a, const JsonObject& b) {
    return static_cast<const Members&>(a) <=> static_cast<const Members&>(b);
  }

 private:
  static constexpr size_type kSearchedMax = 16;

  // The place of the member, or size().
  size_type PlaceOf(std::string_view name) const {
    if (!slots_.empty()) return PlaceByIndex(name);
    size_type place = 0;
    while (place < size() && std::string_view(Member(place).first) != name) ++place;
    return place;
  }
  size_type PlaceByIndex(std::string_view name) const {
    for (size_type slot = SlotOf(name);; slot = Next(slot)) {
      if (slots_[slot] == 0) return size();
      const size_type place = slots_[slot] - 1;
      if (std::string_view(Member(place).first) == name) return place;
    }
  }
  const value_type& Member(size_type place) const {
    return *(begin() + static_cast<difference_type>(place));
  }

  size_type SlotOf(std::string_view name) const { return KeyedHash(name) & (slots_.size() - 1); }
  size_type Next(size_type slot) const { return (slot + 1) & (slots_.size() - 1); }

  // For the last member.
  void AddToIndex() {
    if (size() <= kSearchedMax) return;
    if (slots_.size() < 2 * size()) return BuildIndex();
    AddToIndex(size() - 1);
  }
  void AddToIndex(size_type place) {
    size_type slot = SlotOf(Member(place).first);
    while (slots_[slot] != 0) slot = Next(slot);
    slots_[slot] = static_cast<uint32_t>(place + 1);
  }
  void BuildIndex() {
    slots_.clear();
    if (size() <= kSearchedMax) return;
    size_type slots = 4 * kSearchedMax;
    while (slots < 3 * size()) slots *= 2;
    slots_.assign(slots, 0);
    for (size_type place = 0; place < size(); ++place) AddToIndex(place);
  }

  // An open hash table of places plus one; its size is a power of two. Empty for small objects.
  std::vector<uint32_t> slots_;
};

}  // namespace caip
