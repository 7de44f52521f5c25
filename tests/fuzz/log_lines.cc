// The entries of a trainer's output do not depend on how its bytes arrive, and no line is lost. The
// input: one byte (the stream, and how many bytes arrive at a time), then the output.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/process/line_splitter.h"
#include "host/process/log_entry.h"

namespace {

using namespace caip;
using namespace caip::host;

constexpr size_t kLineBytesMax = 200;
constexpr std::string_view kRecordSeparator = "\x1e";  // begins a record of Python's logging

void Require(bool holds) {
  if (!holds) std::abort();
}

size_t CountLines(std::string_view text) {
  size_t count = 0;
  bool is_empty = true;
  for (const char c : text) {
    if (c == '\n') is_empty = true;
    if (c != '\n' && c != '\r' && std::exchange(is_empty, false)) ++count;
  }
  return count;
}

/// The entries of one output.
struct Entries {
  std::vector<std::string> texts;
  size_t lines = 0;  // that were fed, without the empty ones
  size_t message_lines = 0;
  size_t bytes = 0;  // of the messages
};

// `flushes`: the stream is quiet after each piece.
Entries EntriesOf(OutputStream stream, std::string_view output, size_t piece, bool flushes) {
  Entries entries;
  LineSplitter splitter(kLineBytesMax);
  LineClassifier classifier(stream);
  const LineClassifier::Emit emit = [&](const CapturedEntry& entry) {
    Require(entry.line_number >= 0);
    entries.texts.push_back(std::string(run::Name(entry.severity)) + " " +
                            std::string(entry.pathname) + " " + std::string(entry.thread) + " " +
                            std::string(entry.message));
    entries.message_lines += std::max<size_t>(CountLines(entry.message), 1);
    entries.bytes += entry.message.size();
  };
  const auto take = [&](std::string_view line) {
    Require(line.size() <= kLineBytesMax && line.find('\n') == line.npos);
    entries.lines += CountLines(line);
    classifier.Feed(line, emit);
  };
  for (size_t at = 0; at < output.size(); at += piece) {
    splitter.Feed(output.substr(at, piece), take);
    if (flushes) classifier.Flush(emit);
  }
  splitter.Finish(take);
  classifier.Finish(emit);
  Require(!classifier.holds());
  return entries;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view output(reinterpret_cast<const char*>(data) + 1, size - 1);
  const OutputStream stream = data[0] % 2 == 0 ? OutputStream::kStderr : OutputStream::kStdout;
  const size_t piece = data[0] / 2 + size_t{1};
  const Entries whole = EntriesOf(stream, output, size, false);
  Require(EntriesOf(stream, output, piece, false).texts == whole.texts);
  const Entries flushed = EntriesOf(stream, output, piece, true);
  const bool has_records = output.find(kRecordSeparator) != output.npos;
  for (const Entries& entries : {whole, flushed}) {
    Require(entries.bytes <= output.size() + entries.lines);  // a cut line has more ends
    if (!has_records) Require(entries.message_lines == entries.lines);
  }
  return 0;
}
