#include "run/traceback.h"

#include <array>
#include <vector>

namespace caip::run {
namespace {

constexpr std::string_view kGroupHeading = "  + Exception Group Traceback (most recent call last):";
constexpr std::string_view kFrame = "  File \"";
constexpr std::string_view kLeftOut = "  [...]\n";

bool IsDigitTraceback(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutNewlinesTraceback(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

// The longest beginning of at most `limit` bytes that ends between two UTF-8 characters.
std::string_view Beginning(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit);
}

size_t LineAfter(std::string_view text, size_t offset) {
  const size_t end = text.find('\n', offset);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// The offsets at which a traceback may be cut: of each frame, then of the last exception.
std::vector<size_t> Cuts(std::string_view text) {
  std::vector<size_t> cuts;
  size_t exception = text.size();
  for (size_t line = LineAfter(text, 0); line < text.size(); line = LineAfter(text, line)) {
    if (text.substr(line).starts_with(kFrame)) {
      cuts.push_back(line);
      exception = text.size();
    } else if (text[line] != ' ' && exception == text.size() &&
               !MarksPlace(text.substr(line, LineAfter(text, line) - line))) {
      exception = line;
    }
  }
  cuts.push_back(exception);
  return cuts;
}

}  // namespace

std::string ReduceTraceback(std::string_view text, size_t limit) {
  text = WithoutNewlinesTraceback(text);
  if (text.size() <= limit) return std::string(text);
  if (!text.starts_with(kTracebackHeading)) return std::string(Beginning(text, limit));
  for (size_t cut : Cuts(text)) {
    const size_t size = kTracebackHeading.size() + 1 + kLeftOut.size() + text.size() - cut;
    if (size > limit || cut == text.size()) continue;
    std::string reduced(kTracebackHeading);
    return reduced.append("\n").append(kLeftOut).append(text.substr(cut));
  }
  return std::string(kNoTraceback);
}

bool OpensTraceback(std::string_view line) {
  return line == kTracebackHeading || OpensExceptionGroup(line);
}

bool OpensExceptionGroup(std::string_view line) { return line == kGroupHeading; }

bool OpensSyntaxError(std::string_view line) {
  if (!line.starts_with(kFrame)) return false;
  constexpr std::string_view kLine = "\", line ";
  const size_t place = line.rfind(kLine);
  if (place == std::string_view::npos) return false;
  const std::string_view number = line.substr(place + kLine.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

bool NamesSyntaxError(std::string_view line) {
  return line.starts_with("SyntaxError:") || line.starts_with("IndentationError:") ||
         line.starts_with("TabError:");
}

bool RefusesModule(std::string_view line) {
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view program = line.substr(0, colon);
  const std::string_view name = program.substr(program.find_last_of('/') + 1);
  const std::string_view said = line.substr(colon + 2);
  const bool is_refusal = said.starts_with("No module named ") ||
                          said.starts_with("Error while finding module specification for ") ||
                          said.ends_with(" is a package and cannot be directly executed");
  return is_refusal && name.starts_with("python") && name.find(' ') == std::string_view::npos;
}

bool MarksPlace(std::string_view line) {
  return line.find('^') != std::string_view::npos &&
         line.find_first_not_of(" ~^\n") == std::string_view::npos;
}

bool ChainsTracebacks(std::string_view line) {
  return line == "During handling of the above exception, another exception occurred:" ||
         line == "The above exception was the direct cause of the following exception:";
}

bool AnnouncesIgnoredException(std::string_view line) {
  return line.starts_with("Exception ignored ");
}

bool LooksLikeLogRecord(std::string_view line) {
  constexpr std::array<std::string_view, 6> kLevels = {"DEBUG", "INFO",     "WARNING",
                                                       "ERROR", "CRITICAL", "FATAL"};
  for (std::string_view level : kLevels) {
    if (!line.starts_with(level) || line.size() == level.size()) continue;
    const char next = line[level.size()];
    if (next == ':' || next == ' ' || next == '\t') return true;
  }
  if (line.starts_with('[')) line.remove_prefix(1);  // [2021-01-02 03:04:05] text
  return line.size() > 7 && IsDigitTraceback(line[0]) && IsDigitTraceback(line[3]) &&
         line[4] == '-' && IsDigitTraceback(line[5]) && IsDigitTraceback(line[6]) && line[7] == '-';
}

}  // namespace caip::run
