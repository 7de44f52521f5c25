#include "emulator/cli/reference/markdown.h"

#include <algorithm>

#include "base/text.h"
#include "emulator/cli/arguments/help_parts.h"

namespace caip::cli {
namespace {

constexpr std::string_view kReferenceIntroduction = R"(# Commands

Every command and its flags. `caip help --markdown` prints this page from the table that also parses
command lines, so that the page and the program agree. `caip help COMMAND` prints a part of it, and
`caip help --man DIR` writes it as manual pages.
)";

constexpr std::string_view kSettingsTitle = "Settings of an emulator";
constexpr std::string_view kRootFlagsTitle = "Flags of every command";

// The anchor of a heading, as GitHub makes it.
std::string AnchorOfHeading(std::string_view title) {
  return ReplaceAll(LowerCase(title), " ", "-");
}

std::string LinkToHeading(std::string_view title) {
  return "[" + std::string(title) + "](#" + AnchorOfHeading(title) + ")";
}

// "docs/formats.md" becomes a link: the page is in the same folder.
std::string WithLinksToPages(std::string_view text) {
  constexpr std::string_view kFolder = "docs/";
  constexpr std::string_view kOfAName = "abcdefghijklmnopqrstuvwxyz-";
  std::string linked;
  size_t begin = 0;
  for (size_t at; (at = text.find(kFolder, begin)) != std::string_view::npos;) {
    const size_t name = at + kFolder.size();
    const size_t end = std::min(text.find_first_not_of(kOfAName, name), text.size());
    linked += text.substr(begin, at - begin);
    if (end > name && text.substr(end).starts_with(".md")) {
      const std::string page = std::string(text.substr(name, end - name)) + ".md";
      linked += "[" + page + "](" + page + ")";
      begin = end + 3;
    } else {
      linked += kFolder;
      begin = name;
    }
  }
  return linked + std::string(text.substr(begin));
}

std::string MarkdownCode(std::string_view text) {
  return "`" + ReplaceAll(std::string(text), "|", "\\|") + "`";
}

// Text outside of code. Flags become code. Angle brackets would be HTML, stars and underscores
// fonts.
std::string EscapedForMarkdown(std::string_view text) {
  constexpr std::string_view kOfAFlag = "abcdefghijklmnopqrstuvwxyz0123456789-";
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_at_word = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (is_at_word && text.substr(i).starts_with("--")) {
      const size_t end = std::min(text.find_first_not_of(kOfAFlag, i), text.size());
      escaped += MarkdownCode(text.substr(i, end - i));
      i = end - 1;
      continue;
    }
    if (std::string_view("<*_|").find(text[i]) != std::string_view::npos) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

// What stands in backticks is code already.
std::string MarkdownProse(std::string_view text) {
  std::string prose;
  bool is_code = false;
  for (const std::string& part : Split(WithLinksToPages(text), '`')) {
    prose += is_code ? MarkdownCode(part) : EscapedForMarkdown(part);
    is_code = !is_code;
  }
  return prose;
}

std::string MarkdownRow(const std::string& head, const std::string& text) {
  return "| " + head + " | " + text + " |\n";
}

std::string MarkdownBlock(std::string_view lines) { return "```\n" + std::string(lines) + "```\n"; }

std::string MarkdownFlags(const HelpParts& parts) {
  std::string text = "\n| flag | meaning |\n|---|---|\n";
  size_t rows = 0;
  const auto add = [&](const FlagShape* flag) {
    text += MarkdownRow(MarkdownCode(HeadOf(*flag)), MarkdownProse(TextOf(*flag)));
    ++rows;
  };
  std::for_each(parts.words.begin(), parts.words.end(), add);
  for (const FlagSection& section : parts.sections) {
    std::for_each(section.flags.begin(), section.flags.end(), add);
  }
  return rows > 0 ? text : "";
}

std::string MarkdownParagraphs(const HelpParts& parts) {
  std::string text;
  for (const std::string& paragraph : parts.paragraphs)
    text += "\n" + MarkdownProse(paragraph) + "\n";
  return text;
}

std::string MarkdownExamples(const HelpParts& parts) {
  if (parts.examples.empty()) return "";
  std::string lines = ReplaceAll("\n" + parts.examples, "\n  ", "\n");
  return "\nExamples:\n\n" + MarkdownBlock(lines.substr(1));
}

// A command, and below it those of its group.
std::string MarkdownCommand(const CommandShape& shape, size_t level) {
  const HelpParts parts = PartsOf(shape);
  std::string text = "\n" + std::string(level, '#') + " " + shape.path + "\n\n" +
                     MarkdownProse(shape.description) + "\n";
  if (!shape.is_group) text += "\n" + MarkdownBlock(Join(UsageLines(shape), "\n") + "\n");
  text += MarkdownFlags(parts);
  if (!parts.settings.empty()) {
    text += "\n" + LinkToHeading(kSettingsTitle) + ", such as " +
            MarkdownProse(FirstSettings(parts)) + ", are flags of this command, too.\n";
  }
  text += MarkdownParagraphs(parts) + MarkdownExamples(parts);
  for (const auto& child : shape.children) text += MarkdownCommand(*child, level + 1);
  return text;
}

// A row for each command, without groups.
std::string MarkdownRows(const CommandShape& shape) {
  std::string text;
  if (!shape.is_group)
    text += MarkdownRow(LinkToHeading(shape.path), MarkdownProse(shape.description));
  for (const auto& child : shape.children) text += MarkdownRows(*child);
  return text;
}

}  // namespace

std::string MarkdownReference(const CommandShape& root) {
  const HelpParts parts = PartsOf(root);
  std::string text = std::string(kReferenceIntroduction) + MarkdownParagraphs(parts) +
                     MarkdownExamples(parts) + "\n| command | what it does |\n|---|---|\n" +
                     MarkdownRows(root);
  text += "\n## " + std::string(kRootFlagsTitle) + "\n\n" + MarkdownProse(kSwitchRule) + "\n" +
          MarkdownFlags(parts);
  const auto settings = SettingsPage(root);
  const HelpParts of_settings = PartsOf(*settings);
  text += "\n## " + std::string(kSettingsTitle) + "\n\n" + MarkdownProse(settings->description) +
          "\n" + MarkdownParagraphs(of_settings) + MarkdownFlags(of_settings);
  for (const auto& child : root.children) text += MarkdownCommand(*child, 2);
  return text;
}

}  // namespace caip::cli
