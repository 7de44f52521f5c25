#pragma once
// Bytes -> lines, for pipes: a line may arrive in many pieces or a thousand lines in one.

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace caip::host {

// Bytes of a program's output -> text that JSON and SQLite can hold.

/// True for UTF-8 without NUL; fast where the text is ASCII.
bool IsSafeText(std::string_view bytes);

/// Each NUL and each maximal ill-formed sequence becomes U+FFFD; all else stays.
std::string SafeText(std::string_view bytes);

/// Where to cut text of which `bytes` is the beginning, so that no character is torn: the size, or
/// up to three bytes before.
size_t WholeCharacters(std::string_view bytes);

/// Cuts one stream into lines. "\n" and "\r\n" end a line; a lone "\r" belongs to it. A line longer
/// than the limit (above four) is handed out in pieces of that many bytes, up to three fewer where
/// a UTF-8 character would be torn: nothing is lost and nothing grows without bound. One thread.
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

  /// The stream has ended: hands out a last line that has no end.
  template <typename Take>
  void Finish(Take&& take) {
    if (!rest_.empty()) take(std::string_view(rest_));
    rest_.clear();
    was_cut_ = false;
  }

  bool HasRest() const { return !rest_.empty(); }

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
