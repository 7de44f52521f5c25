#include "harness/explorer/changing_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "harness/explorer/baseline.h"
#include "harness/faults/trigger.h"

namespace caip::harness {

/// A name of a run, of which some parts are known.
struct ChangingNames::Unresolved {
  std::string directory;  // the known parts: those that change are replaced by their form
  std::string rest;

  std::string Next() const { return rest.substr(0, rest.find('/')); }
  bool IsLast() const { return rest.find('/') == std::string::npos; }
  // With its next part known; `form`: "" if it does not change.
  Unresolved After(const std::string& form) const {
    const std::string next = Next();
    return {directory + (form.empty() ? next : "<" + form + ">") + "/",
            rest.substr(next.size() + 1)};
  }
};

namespace {

std::set<std::string> NamesIn(const std::vector<Event>& run) {
  std::set<std::string> names;
  for (const Event& event : run) {
    const StorageEvent* operation = FindOperation(event);
    if (!operation) continue;
    names.insert(operation->object);
    if (!operation->from.empty() && operation->op != "symlink") names.insert(operation->from);
  }
  return names;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// How alike corresponding names are, from the most to the least.
constexpr int kLikenesses = 3;

std::string FormOf(const std::string& part, int likeness) {
  std::string form = std::to_string(likeness);
  if (likeness == 2) return form;
  for (const char c : part) {
    if (!IsWordLetter(c)) {
      form += c;
    } else if (likeness == 0) {
      form += '?';
    }
  }
  return form;
}

// The kinds of letters in the text, each once: "0" for digits, "a" for those of hexadecimal
// numbers, ...
std::string LettersOf(const std::set<std::string>& texts) {
  std::set<char> kinds;
  for (const std::string& text : texts) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      kinds.insert(IsDigit(c)                ? '0'
                   : c >= 'a' && c <= 'f'    ? 'a'
                   : std::islower(byte) != 0 ? 'g'
                   : std::isupper(byte) != 0 ? 'A'
                                             : '.');
    }
  }
  return {kinds.begin(), kinds.end()};
}

// The lengths of the beginning and the end that all have in common.
std::pair<size_t, size_t> EndsInCommon(const std::set<std::string>& parts) {
  const std::string& first = *parts.begin();
  size_t shortest = first.size();
  size_t front = first.size();
  size_t back = first.size();
  for (const std::string& part : parts) {
    const auto differs = std::ranges::mismatch(first, part).in1;
    const auto from_behind =
        std::mismatch(first.rbegin(), first.rend(), part.rbegin(), part.rend());
    shortest = std::min(shortest, part.size());
    front = std::min(front, static_cast<size_t>(differs - first.begin()));
    back = std::min(back, static_cast<size_t>(from_behind.first - first.rbegin()));
  }
  return {front, std::min(back, shortest - front)};
}

// The length of the letters and digits at the end of a text, if random names share so few by
// chance.
size_t SharedByChance(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && std::isalnum(static_cast<unsigned char>(text.rbegin()[length]))) {
    ++length;
  }
  return length < 3 ? length : 0;
}

// "*" for what differs, and for digits beside it: two process ids begin alike by chance. So do one
// or two letters of only two names that are random. "" if no letter is left, or too few to tell.
std::string GlobByLetters(const std::set<std::string>& parts) {
  const std::string& first = *parts.begin();
  auto [front, back] = EndsInCommon(parts);
  while (front > 0 && IsDigit(first[front - 1])) --front;
  while (back > 0 && IsDigit(first[first.size() - back])) --back;
  if (parts.size() == 2) {
    front -= SharedByChance(std::string_view(first).substr(0, front));
    back -= SharedByChance(std::string(first.rbegin(), first.rbegin() + static_cast<long>(back)));
  }
  const std::string kept = first.substr(0, front) + first.substr(first.size() - back);
  const bool ends_words = (front > 0 && !IsWordLetter(first[front - 1])) ||
                          (back > 0 && !IsWordLetter(first[first.size() - back]));
  const auto letters =
      std::ranges::count_if(kept, [](unsigned char c) { return std::isalpha(c) != 0; });
  const bool is_chance = parts.size() == 2 && letters < 3 && !ends_words;
  if (letters == 0 || is_chance) return "";
  return first.substr(0, front) + "*" + first.substr(first.size() - back);
}

// Their punctuation, with "?" for each other letter or, if they differ in length, "*" for each
// word.
std::string GlobByForm(const std::set<std::string>& parts, int likeness) {
  if (likeness == 2) return "*";
  std::string glob;
  for (const char c : *parts.begin()) {
    const bool in_word = likeness == 1 && IsWordLetter(c);
    if (in_word && glob.ends_with('*')) continue;
    glob += in_word ? '*' : IsWordLetter(c) ? '?' : c;
  }
  return glob;
}

template <typename Name>
std::map<std::string, std::set<std::string>> PartsOf(const std::vector<Name>& names) {
  std::map<std::string, std::set<std::string>> parts;
  for (const Name& name : names) parts[name.directory].insert(name.Next());
  return parts;
}

// The parts in `all` that the same directory in `others` does not have.
template <typename Parts>
Parts PartsOnlyIn(const Parts& all, const Parts& others) {
  Parts only;
  for (const auto& [directory, parts] : all) {
    const auto other = others.find(directory);
    if (other == others.end()) continue;
    std::set<std::string>& here = only[directory];
    std::ranges::set_difference(parts, other->second, std::inserter(here, here.end()));
  }
  return only;
}

template <typename Kind, typename Parts>
std::map<Kind, std::set<std::string>> ByKind(const Parts& only, int likeness) {
  std::map<Kind, std::set<std::string>> kinds;
  for (const auto& [directory, parts] : only) {
    for (const std::string& part : parts) {
      kinds[{WithoutNumbers(directory), FormOf(part, likeness)}].insert(part);
    }
  }
  return kinds;
}

}  // namespace

ChangingNames::ChangingNames(const std::vector<Event>& run, const std::vector<Event>& other) {
  std::vector<Unresolved> mine;
  std::vector<Unresolved> theirs;
  for (const std::string& name : NamesIn(run)) mine.push_back({"", name});
  for (const std::string& name : NamesIn(other)) theirs.push_back({"", name});
  while (!mine.empty() && !theirs.empty()) Find(mine, theirs);
}

// Compares one part of each name, and leaves the names that have more parts.
void ChangingNames::Find(std::vector<Unresolved>& mine, std::vector<Unresolved>& theirs) {
  const Parts my_parts = PartsOf(mine);
  const Parts their_parts = PartsOf(theirs);
  for (const auto& [directory, parts] : my_parts) {
    const auto other = their_parts.find(directory);
    if (other == their_parts.end()) continue;
    for (const std::string& part : parts) {
      if (other->second.contains(part)) stable_.insert(directory + part);
    }
  }
  Parts my_only = PartsOnlyIn(my_parts, their_parts);
  Parts their_only = PartsOnlyIn(their_parts, my_parts);
  for (int likeness = 0; likeness < kLikenesses; ++likeness) {
    AddClasses(likeness, my_only, their_only);
    RemoveKnown(my_only);
    RemoveKnown(their_only);
  }
  mine = Following(mine);
  theirs = Following(theirs);
}

void ChangingNames::AddClasses(int likeness, const Parts& mine, const Parts& theirs) {
  const auto their_kinds = ByKind<Kind>(theirs, likeness);
  for (const auto& [kind, samples] : ByKind<Kind>(mine, likeness)) {
    const auto found = their_kinds.find(kind);
    if (found == their_kinds.end()) continue;
    if (likeness == kLikenesses - 1 && found->second.size() != samples.size()) continue;
    std::set<std::string> all = samples;
    all.insert(found->second.begin(), found->second.end());
    const std::string glob = GlobByLetters(all);
    classes_[kind] = {glob.empty() ? GlobByForm(all, likeness) : glob, LettersOf(all)};
  }
}

void ChangingNames::RemoveKnown(Parts& all) const {
  for (auto& [directory, parts] : all) {
    std::erase_if(parts, [this, &at = directory](const std::string& part) {
      return !PartOf(at, part).form.empty();
    });
  }
}

// The names that have more parts, if their next one is known.
std::vector<ChangingNames::Unresolved> ChangingNames::Following(
    const std::vector<Unresolved>& names) const {
  std::vector<Unresolved> more;
  for (const Unresolved& name : names) {
    const std::string part = name.Next();
    const std::string form = PartOf(name.directory, part).form;
    const bool is_known = !form.empty() || stable_.contains(name.directory + part);
    if (is_known && !name.IsLast()) more.push_back(name.After(form));
  }
  return more;
}

ChangingNames::Part ChangingNames::PartOf(const std::string& directory,
                                          const std::string& part) const {
  if (stable_.contains(directory + part)) return {};
  const std::string letters = LettersOf({part});
  for (int likeness = 0; likeness < kLikenesses; ++likeness) {
    const std::string form = FormOf(part, likeness);
    const auto found = classes_.find({WithoutNumbers(directory), form});
    if (found == classes_.end() || !GlobMatches(found->second.glob, part)) continue;
    if (std::ranges::includes(found->second.letters, letters)) return {form, found->second.glob};
  }
  return {};
}

std::string ChangingNames::GlobOf(const std::string& name) const {
  if (empty()) return "";
  std::string glob;
  bool changes = false;
  for (Unresolved at{"", name};;) {
    const std::string next = at.Next();
    const Part part = PartOf(at.directory, next);
    changes = changes || !part.form.empty();
    glob += part.form.empty() ? next : part.glob;
    if (at.IsLast()) return changes ? glob : "";
    glob += '/';
    at = at.After(part.form);
  }
}

}  // namespace caip::harness
