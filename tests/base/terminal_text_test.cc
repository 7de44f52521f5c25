#include "base/terminal_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace caip {
namespace {

constexpr char kHostile[] = "\x1b[31mred \x1b]0;owned\x07";

// Reads until all writers have closed the terminal or the pipe.
std::string ReadToEnd(const Fd& reader) {
  std::string text;
  char piece[256];
  ssize_t count = 0;
  while ((count = ::read(reader.get(), piece, sizeof piece)) > 0) {
    text.append(piece, static_cast<size_t>(count));
  }
  return text;
}

std::string ReceivedByTerminal(std::string_view text, Controls kept) {
  const Fd reader(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_EQ(::grantpt(reader.get()), 0);
  EXPECT_EQ(::unlockpt(reader.get()), 0);
  Fd terminal(::open(::ptsname(reader.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_EQ(::isatty(terminal.get()), 1);
  WriteText(terminal.get(), text, kept);
  terminal.Close();
  return ReadToEnd(reader);
}

TEST(TerminalText, ShowsControlSequencesInsteadOfCarryingThemOut) {
  const struct {
    const char* name;
    std::string text;
    std::string shown;
    std::string coloured;  // with Controls::kColours
  } rows[] = {
      {"plain text", "loss: 0.5\n\tstep é 漢 😀\n", "loss: 0.5\n\tstep é 漢 😀\n",
       "loss: 0.5\n\tstep é 漢 😀\n"},
      {"a colour", "\x1b[1;31mred\x1b[0m", "\\x1b[1;31mred\\x1b[0m", "\x1b[1;31mred\x1b[0m"},
      {"a colour with sub-parameters", "\x1b[38:2::1:2:3m", "\\x1b[38:2::1:2:3m",
       "\x1b[38:2::1:2:3m"},
      {"a reset", "\x1b[m", "\\x1b[m", "\x1b[m"},
      {"the clipboard (OSC 52)", "\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07",
       "\\x1b]52;c;ZXZpbA==\\x07"},
      {"a title (OSC 0) that ST ends", "\x1b]0;root\x1b\\", "\\x1b]0;root\\x1b\\",
       "\\x1b]0;root\\x1b\\"},
      {"a link (OSC 8)", "\x1b]8;;http://x\x1b\\y", "\\x1b]8;;http://x\\x1b\\y",
       "\\x1b]8;;http://x\\x1b\\y"},
      {"a query that the terminal answers", "\x1b[6n\x1b[c", "\\x1b[6n\\x1b[c", "\\x1b[6n\\x1b[c"},
      {"an erased screen", "\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H", "\\x1b[2J\\x1b[H"},
      {"a private mode that ends like a colour", "\x1b[?1m\x1b[>4;2m", "\\x1b[?1m\\x1b[>4;2m",
       "\\x1b[?1m\\x1b[>4;2m"},
      {"a colour that does not end", "\x1b[31", "\\x1b[31", "\\x1b[31"},
      {"a colour that a line break interrupts", "\x1b[3\n1m", "\\x1b[3\n1m", "\\x1b[3\n1m"},
      {"a lone escape", "\x1b", "\\x1b", "\\x1b"},
      {"escape before a colour", "\x1b\x1b[31m", "\\x1b\\x1b[31m", "\\x1b\x1b[31m"},
      {"a device control string", "\x1bP$q\"p\x1b\\", "\\x1bP$q\"p\\x1b\\", "\\x1bP$q\"p\\x1b\\"},
      {"C1: CSI, OSC, ST", "\u009b31m\u009d0;x\u009c", "\\u009b31m\\u009d0;x\\u009c",
       "\\u009b31m\\u009d0;x\\u009c"},
      {"the first and the last C1 character", "\u0080\u009f\u00a0", "\\u0080\\u009f\u00a0",
       "\\u0080\\u009f\u00a0"},
      {"directions and isolates", "a\u202eb\u2066c\u200fd\u061c",
       "a\\u202eb\\u2066c\\u200fd\\u061c", "a\\u202eb\\u2066c\\u200fd\\u061c"},
      {"invisible characters", "a\u200bb\ufeffc\u2060\U000e0041",
       "a\\u200bb\\ufeffc\\u2060\\U000e0041", "a\\u200bb\\ufeffc\\u2060\\U000e0041"},
      {"separators of lines and paragraphs", "a\u2028b\u2029", "a\\u2028b\\u2029",
       "a\\u2028b\\u2029"},
      {"joiners of letters and of emoji", "\u0646\u200c\u0647 \U0001f469\u200d\U0001f680",
       "\u0646\u200c\u0647 \U0001f469\u200d\U0001f680",
       "\u0646\u200c\u0647 \U0001f469\u200d\U0001f680"},
      {"a bare byte 9b, which is CSI in Latin-1",
       "\x9b"
       "31m",
       "\\x9b31m", "\\x9b31m"},
      {"other bytes that are not UTF-8", "a\xff\xc0\x80z", "a\\xff\\xc0\\x80z",
       "a\\xff\\xc0\\x80z"},
      {"a character that is cut", "\xe6\xbc", "\\xe6\\xbc", "\\xe6\\xbc"},
      {"a carriage return", "50%\r100%", "50%\\x0d100%", "50%\\x0d100%"},
      {"line breaks of Windows", "a\r\nb\r\n", "a\nb\n", "a\nb\n"},
      {"backspaces", "evil\b\b\b\bgood", "evil\\x08\\x08\\x08\\x08good",
       "evil\\x08\\x08\\x08\\x08good"},
      {"delete", "a\x7f", "a\\x7f", "a\\x7f"},
      {"zero, bell, vertical tab, form feed, shift out", std::string("\0\a\v\f\x0e", 5),
       "\\x00\\x07\\x0b\\x0c\\x0e", "\\x00\\x07\\x0b\\x0c\\x0e"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TerminalText(row.text, Controls::kNone), row.shown) << row.name;
    EXPECT_EQ(TerminalText(row.text, Controls::kColours), row.coloured) << row.name;
    EXPECT_EQ(TerminalText(row.text, Controls::kAll), row.text) << row.name;
  }
}

TEST(TerminalText, HasNoControlCharactersForAnyByteAfterAnyByte) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const unsigned char c : TerminalText(text, Controls::kColours)) {
        const bool fine = (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t';
        EXPECT_TRUE(fine) << first << " " << second;
      }
    }
  }
}

TEST(WriteText, SendsATerminalOnlyTheControlsThatAreKept) {
  EXPECT_EQ(ReceivedByTerminal(kHostile, Controls::kNone), "\\x1b[31mred \\x1b]0;owned\\x07");
  EXPECT_EQ(ReceivedByTerminal(kHostile, Controls::kColours), "\x1b[31mred \\x1b]0;owned\\x07");
}

TEST(WriteText, SendsAPipeTheBytes) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  WriteText(writer.get(), kHostile);
  writer.Close();
  EXPECT_EQ(ReadToEnd(reader), kHostile);
}

}  // namespace
}  // namespace caip
