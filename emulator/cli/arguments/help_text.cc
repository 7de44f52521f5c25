#include "emulator/cli/arguments/help_text.h"

#include <algorithm>

#include "base/text.h"
#include "emulator/cli/arguments/help_parts.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

using report::TerminalColumns;

constexpr size_t kNarrowestHelp = 40;
constexpr size_t kHelpColumn = 34;       // of the texts of flags, at most
constexpr size_t kNarrowHelpColumn = 8;  // below their flags, where the window is narrow
constexpr size_t kLeastTextWidth = 28;

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

std::string FlagEntries(const HelpParts& parts, size_t width) {
  std::vector<std::string> heads;
  for (const FlagShape* word : parts.words) heads.push_back(HeadOf(*word));
  for (const FlagSection& section : parts.sections) {
    for (const FlagShape* flag : section.flags) heads.push_back(HeadOf(*flag));
  }
  const size_t column = ColumnFor(heads);
  std::string text = parts.words.empty() ? "" : "\nArguments:\n";
  const auto add = [&](const FlagShape* flag) {
    text += Entry(HeadOf(*flag), TextOf(*flag), column, width);
  };
  std::for_each(parts.words.begin(), parts.words.end(), add);
  for (const FlagSection& section : parts.sections) {
    text += "\n" + section.heading + ":\n";
    std::for_each(section.flags.begin(), section.flags.end(), add);
  }
  return text;
}

// The pointers to the flags that pages do not repeat.
std::string Pointers(const CommandShape& page, const HelpParts& parts, size_t width) {
  if (page.path.empty() || page.is_group) return "";
  const std::string names = FirstSettings(parts);
  std::string text = "\n";
  if (!names.empty()) {
    text += Paragraph(std::string(kSettingFlags) + ", such as " + names + ": caip help settings",
                      width);
  }
  return text +
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

// The paragraphs become as wide as the window. Examples are copied by their readers: they stay
// unchanged.
std::string Prose(const HelpParts& parts, size_t width) {
  std::string prose;
  for (const std::string& block : parts.paragraphs) prose += "\n" + Paragraph(block, width);
  return prose + (parts.examples.empty() ? "" : "\nExamples:\n" + parts.examples);
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

std::string UsageOf(const CommandShape& command, size_t width) {
  const std::vector<std::string> lines = UsageLines(command);
  std::string text = Paragraph("Usage: " + lines.front(), width);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string indent(std::string_view("Usage: ").size(), ' ');
    text += indent + Join(Wrapped(lines[i], width - indent.size()), "\n" + indent) + "\n";
  }
  return text;
}

std::string LongHelp(const CommandShape& page, size_t width) {
  width = std::max(width, kNarrowestHelp);
  std::string text = Paragraph(page.description, width);
  if (!page.path.empty()) text += "\n" + UsageOf(page, width);
  const HelpParts parts = PartsOf(page);
  const bool is_root = page.path == page.name;
  if (!is_root) text += FlagEntries(parts, width);
  text += ChildEntries(page, width);
  if (is_root) text += FlagEntries(parts, width);
  return text + Pointers(page, parts, width) + Prose(parts, width);
}

std::string ShortHelp(const CommandShape& page, size_t width) {
  width = std::max(width, kNarrowestHelp);
  if (page.path.empty()) return LongHelp(page, width);
  std::string text = UsageOf(page, width) + "\n";
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
