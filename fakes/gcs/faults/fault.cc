#include "fakes/gcs/faults/fault.h"

#include <charconv>
#include <vector>

namespace caip::gcs {
namespace {

constexpr uint64_t kFewBytes = 10;  // what a broken stream sends where no number is given
constexpr uint64_t kNumberMax = uint64_t{1} << 40;

// Reads an instruction from left to right.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool Take(uint64_t* number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
    if (error != std::errc() || *number > kNumberMax) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Fault> ParseBrokenStream(Words words) {
  uint64_t number = 0;
  if (words.AtEnd()) return Fault{.kind = Fault::Kind::kBreakAfterBytes, .bytes = kFewBytes};
  if (words.Take("-final-chunk-after-")) {
    if (!words.Take(&number) || !words.Take("B") || !words.AtEnd()) return std::nullopt;
    return Fault{.kind = Fault::Kind::kBreakFinalAnswer, .bytes = number};
  }
  if (!words.Take("-after-") || !words.Take(&number) || !words.Take("K") || !words.AtEnd()) {
    return std::nullopt;
  }
  return Fault{.kind = Fault::Kind::kBreakAfterBytes, .bytes = number << 10};
}

std::optional<Fault> ParseStall(Words words) {
  uint64_t seconds = 0;
  uint64_t kibibytes = 0;
  if (!words.Take(&seconds) || !words.Take("s-after-") || !words.Take(&kibibytes) ||
      !words.Take("K") || !words.AtEnd() || seconds > 24 * 3600) {
    return std::nullopt;
  }
  return Fault{.kind = Fault::Kind::kStall,
               .bytes = kibibytes << 10,
               .pause = std::chrono::seconds(seconds)};
}

}  // namespace

std::optional<Fault> ParseFault(std::string_view instruction) {
  Words words(instruction);
  if (words.Take("stall-for-")) return ParseStall(words);
  if (!words.Take("return-")) return std::nullopt;
  if (words.Take("reset-connection")) {
    if (!words.AtEnd()) return std::nullopt;
    return Fault{.kind = Fault::Kind::kReset};
  }
  if (words.Take("broken-stream")) return ParseBrokenStream(words);
  uint64_t status = 0;
  if (!words.Take(&status) || status < 400 || status > 599) return std::nullopt;
  Fault fault{.kind = Fault::Kind::kStatus, .status = static_cast<int>(status)};
  if (words.AtEnd()) return fault;
  uint64_t kibibytes = 0;
  if (!words.Take("-after-") || !words.Take(&kibibytes) || !words.Take("K") || !words.AtEnd()) {
    return std::nullopt;
  }
  fault.kind = Fault::Kind::kStatusAfterBytes;
  fault.bytes = kibibytes << 10;
  return fault;
}

std::string FaultForms() {
  return "return-X, return-X-after-YK, return-reset-connection, return-broken-stream, "
         "return-broken-stream-after-YK, return-broken-stream-final-chunk-after-YB and "
         "stall-for-Ts-after-YK (X from 400 to 599)";
}

}  // namespace caip::gcs
