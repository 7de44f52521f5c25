#include "emulator/cli/arguments/help_text.h"

#include <algorithm>

#include "base/text.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

using report::TerminalColumns;

constexpr size_t kNarrowestHelp = 40;
constexpr size_t kHelpColumn = 34;       // of the texts of flags, at most
constexpr size_t kNarrowHelpColumn = 8;  // below their flags, where the window is narrow
constexpr size_t kLeastTextWidth = 28;
constexpr std::string_view kExamples = "Examples:";

// The words of a text in lines of at most `width` columns. A longer word has a line of its own.
std::vector<std::string> Wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : Split(ReplaceAll(std::string(text), "\n", " "), ' ')) {
    if (word.empty()) continue;
    const bool fits =
        !lines.empty() && TerminalColumns(lines.back()) + 1 + TerminalColumns(word) <= width;
    if (fits) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string Paragraph(std::string_view text, size_t width) {
  return Join(Wrapped(text, width), "\n") + "\n";
}

// "--region REGION (required)".
std::string HeadOf(const FlagShape& flag) {
  std::string head = flag.name;
  if (!flag.metavar.empty()) head += " " + flag.metavar;
  return ReplaceAll(head, ",--", ", --");
}

std::string TextOf(const FlagShape& flag) {
  return (flag.is_required ? "(required) " : "") + flag.help;
}

// The column of the texts beside these heads.
size_t ColumnFor(const std::vector<std::string>& heads) {
  size_t column = 0;
  for (const std::string& head : heads) {
    const size_t needed = TerminalColumns(head) + 4;
    if (needed <= kHelpColumn) column = std::max(column, needed);
  }
  return column;
}

// A head, and beside it or below it its text.
std::string Entry(const std::string& head, std::string_view text, size_t column, size_t width) {
  if (width < column + kLeastTextWidth) column = kNarrowHelpColumn;
  std::string entry = "  " + head;
  bool is_beside = TerminalColumns(entry) + 2 <= column;
  for (const std::string& line : Wrapped(text, width - column)) {
    if (!is_beside) entry += "\n";
    entry += std::string(column - (is_beside ? TerminalColumns(entry) : 0), ' ') + line;
    is_beside = false;
  }
  return entry + "\n";
}

// The headings in the order of their first flags.
std::vector<std::string> HeadingsOf(const CommandShape& page) {
  std::vector<std::string> headings;
  for (const FlagShape& flag : page.flags) {
    if (flag.is_word || (flag.heading == kSettingFlags && !page.path.empty())) continue;
    if (std::find(headings.begin(), headings.end(), flag.heading) == headings.end()) {
      headings.push_back(flag.heading);
    }
  }
  return headings;
}

std::string FlagEntries(const CommandShape& page, size_t width) {
  const std::vector<std::string> headings = HeadingsOf(page);
  std::vector<std::string> heads;
  for (const FlagShape& flag : page.flags) {
    const bool is_listed =
        flag.is_word || std::find(headings.begin(), headings.end(), flag.heading) != headings.end();
    if (is_listed) heads.push_back(HeadOf(flag));
  }
  const size_t column = ColumnFor(heads);
  std::string text;
  const std::vector<const FlagShape*> words = page.Words();
  if (!words.empty()) text += "\nArguments:\n";
  for (const FlagShape* word : words) text += Entry(HeadOf(*word), TextOf(*word), column, width);
  for (const std::string& heading : headings) {
    text += "\n" + heading + ":\n";
    for (const FlagShape& flag : page.flags) {
      if (flag.is_word || flag.heading != heading) continue;
      text += Entry(HeadOf(flag), TextOf(flag), column, width);
    }
  }
  return text;
}

// The pointers to the flags that pages do not repeat.
std::string Pointers(const CommandShape& page, size_t width) {
  if (page.path.empty() || page.is_group) return "";
  std::string names;
  size_t count = 0;
  for (const FlagShape& flag : page.flags) {
    if (flag.heading != kSettingFlags) continue;
    if (++count <= 3) names += (names.empty() ? "" : ", ") + flag.name;
  }
  std::string text;
  if (count > 0) {
    text +=
        "\n" + Paragraph(std::string(kSettingFlags) + ", such as " + names + ": caip help settings",
                         width);
  }
  return text + (count > 0 ? "" : "\n") +
         Paragraph("Flags of every command, such as --project and --format: caip help", width);
}

std::string ChildEntries(const CommandShape& page, size_t width) {
  std::vector<std::string> names;
  for (const auto& child : page.children) names.push_back(child->name);
  std::string text;
  for (const auto& child : page.children) {
    text += Entry(child->name, child->description, ColumnFor(names), width);
  }
  return text.empty() ? "" : "\nCommands:\n" + text;
}

// The paragraphs become as wide as the window. Examples are copied by their readers: they stay as
// they are.
std::string Prose(const std::string& text, size_t width) {
  const size_t examples = std::min(text.find(kExamples), text.size());
  std::string prose;
  for (const std::string& block : Split(ReplaceAll(text.substr(0, examples), "\n\n", "\f"), '\f')) {
    if (!Trim(block).empty()) prose += "\n" + Paragraph(block, width);
  }
  if (examples < text.size()) prose += "\n" + text.substr(examples) + "\n";
  return prose;
}

// The beginning of a text that fits one line: a sentence, or its main part, or what fits of it.
std::string OneLine(const std::string& text, size_t width) {
  std::string line = text.substr(0, text.find(". "));
  if (!line.ends_with('.')) line += ".";
  while (TerminalColumns(line) > width) {
    const size_t end = std::max(line.rfind("; ") + 1, line.rfind(" (") + 1);
    if (end == 0) return Wrapped(line, width - 4).front() + " ...";
    line = line.substr(0, end - 1) + ".";
  }
  return line;
}

// A head with the beginning of its text, in one line of the window.
std::string LineOf(const std::string& head, const std::string& text, size_t column, size_t width) {
  std::string line = "  " + head;
  const size_t begin = std::max(column, TerminalColumns(line) + 2);
  if (begin + kLeastTextWidth / 2 > width) return line + "\n";
  line.resize(line.size() + begin - TerminalColumns(line), ' ');
  return line + OneLine(text, width - begin) + "\n";
}

// The flags and words that -h lists, words first.
std::vector<const FlagShape*> MainFlagsOf(const CommandShape& page) {
  std::vector<const FlagShape*> flags = page.Words();
  for (const FlagShape& flag : page.flags) {
    const bool is_main = flag.is_required || flag.heading == kMainFlags;
    if (!flag.is_word && is_main) flags.push_back(&flag);
  }
  return flags;
}

}  // namespace

std::string UsageOf(const CommandShape& command) {
  std::string usage = "Usage: " + command.path;
  if (command.is_group) return usage + " COMMAND [flags]\n";
  for (const FlagShape* word : command.Words()) {
    usage += " " + (word->is_required ? word->name : "[" + word->name + "]");
    if (word->is_many && word->is_required) usage += "...";
  }
  for (const FlagShape& flag : command.flags) {
    if (flag.is_required && !flag.is_word) usage += " " + flag.name + "=" + flag.metavar;
  }
  return usage + " [flags]" + (command.takes_user_args ? " [-- USER_ARGS ...]" : "") + "\n";
}

std::string LongHelp(const CommandShape& page, size_t width) {
  width = std::max(width, kNarrowestHelp);
  std::string text = Paragraph(page.description, width);
  if (!page.path.empty()) text += "\n" + Paragraph(UsageOf(page), width);
  const bool is_root = page.path == page.name;
  if (!is_root) text += FlagEntries(page, width);
  text += ChildEntries(page, width);
  if (is_root) text += FlagEntries(page, width);
  return text + Pointers(page, width) + Prose(page.text, width);
}

std::string ShortHelp(const CommandShape& page, size_t width) {
  width = std::max(width, kNarrowestHelp);
  if (page.path.empty()) return LongHelp(page, width);
  std::string text = Paragraph(UsageOf(page), width) + "\n";
  std::vector<std::string> heads;
  for (const FlagShape* flag : MainFlagsOf(page)) heads.push_back(HeadOf(*flag));
  for (const auto& child : page.children) heads.push_back(child->name);
  const size_t column = ColumnFor(heads);
  for (const FlagShape* flag : MainFlagsOf(page)) {
    text += LineOf(HeadOf(*flag), TextOf(*flag), column, width);
  }
  for (const auto& child : page.children) {
    text += LineOf(child->name, child->description, column, width);
  }
  return text + "\n" + Paragraph("All flags, and examples: " + page.path + " --help", width);
}

}  // namespace caip::cli
