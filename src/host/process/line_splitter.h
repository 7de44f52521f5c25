#pragma once
// Turns the bytes of a program's output into lines of valid text.

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace caip::host {

/// True for UTF-8 without NUL, which JSON and SQLite can hold. Fast for ASCII.
bool IsSafeText(std::string_view bytes);

/// Replaces each NUL and each maximal ill-formed sequence by U+FFFD.
std::string SafeText(std::string_view bytes);

/// The length at which to cut a text that begins with `bytes` without cutting a character: the
/// size, or up to three bytes less.
size_t WholeCharacters(std::string_view bytes);

/// Splits one stream into lines. A line may arrive in many pieces, or many lines in one. "\n" and
/// "\r\n" end a line; a single "\r" is a part of it. A line longer than the limit (more than four)
/// becomes several pieces of at most that size, which do not cut a UTF-8 character. One thread.
class LineSplitter {
 public:
  explicit LineSplitter(size_t limit) : limit_(limit) {}

  /// Calls `take(std::string_view line)` for each line that `bytes` completes.
  template <typename Take>
  void Feed(std::string_view bytes, Take&& take) {
    while (!bytes.empty()) {
      const void* found = std::memchr(bytes.data(), '\n', bytes.size());
      const size_t length =
          found ? static_cast<size_t>(static_cast<const char*>(found) - bytes.data())
                : bytes.size();
      if (found && rest_.empty() && length <= limit_) {
        take(WithoutReturn(bytes.substr(0, length)));
      } else {
        Gather(bytes.substr(0, length), take);
        if (found) End(take);
      }
      bytes.remove_prefix(found ? length + 1 : length);
    }
  }

  /// Ends the stream: passes on a last line without a line break.
  template <typename Take>
  void Finish(Take&& take) {
    if (!rest_.empty()) take(std::string_view(rest_));
    rest_.clear();
    was_cut_ = false;
  }

 private:
  static std::string_view WithoutReturn(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  template <typename Take>
  void Gather(std::string_view part, Take&& take) {
    while (rest_.size() + part.size() > limit_) {
      const size_t fits = limit_ - rest_.size();
      rest_.append(part.substr(0, fits));
      part.remove_prefix(fits);
      const size_t whole = WholeCharacters(rest_);
      take(std::string_view(rest_).substr(0, whole));
      rest_.erase(0, whole);
      was_cut_ = true;
    }
    rest_.append(part);
  }

  template <typename Take>
  void End(Take&& take) {
    const std::string_view line = WithoutReturn(rest_);
    if (!(line.empty() && was_cut_)) take(line);  // the end of a cut line is not another line
    rest_.clear();
    was_cut_ = false;
  }

  size_t limit_;
  std::string rest_;
  bool was_cut_ = false;
};

}  // namespace caip::host
