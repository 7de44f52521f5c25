#include "emulator/cli/reference/man_pages.h"

#include "base/text.h"
#include "emulator/cli/arguments/help_parts.h"

namespace caip::cli {
namespace {

// A text that roff prints unchanged. Without the escapes, programs that print manual pages replace
// quotes and hyphens, which a reader copies, by typographic ones.
std::string EscapedForRoff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string BoldInRoff(std::string_view text) { return "\\fB" + EscapedForRoff(text) + "\\fR"; }
std::string ItalicInRoff(std::string_view text) { return "\\fI" + EscapedForRoff(text) + "\\fR"; }

// A line of text. A line that begins with a dot would be a request of roff.
std::string RoffLine(std::string_view text) {
  return (text.starts_with('.') ? "\\&" : "") + EscapedForRoff(text) + "\n";
}

// Sentences in lines of their own, and none wider than 80 columns: roff fills its lines itself.
std::string RoffLines(std::string_view text) {
  std::string lines;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) lines += RoffLine(line);
    line.clear();
  };
  for (const std::string& word : Split(text, ' ')) {
    if (EscapedForRoff(line + word).size() > 78) end_line();
    line += (line.empty() ? "" : " ") + word;
    if (word.ends_with('.')) end_line();
  }
  end_line();
  return lines;
}

// The body may begin with a paragraph, for which the title suffices.
std::string RoffSection(std::string_view title, std::string body) {
  if (body.starts_with(".PP\n")) body.erase(0, 4);
  return ".SH " + std::string(title) + "\n" + body;
}

// "\fB-r\fR, \fB--recursive\fR" or "\fB--region\fR \fIREGION\fR".
std::string HeadInRoff(const FlagShape& flag) {
  if (flag.is_word) return ItalicInRoff(flag.name);
  std::vector<std::string> names;
  for (const std::string& name : Split(flag.name, ',')) names.push_back(BoldInRoff(name));
  return Join(names, ", ") + (flag.metavar.empty() ? "" : " " + ItalicInRoff(flag.metavar));
}

std::string RoffEntry(const FlagShape& flag) {
  return ".TP\n" + HeadInRoff(flag) + "\n" + RoffLines(TextOf(flag));
}

std::string RoffParagraph(std::string_view text) { return ".PP\n" + RoffLines(text); }

// Headings only divide: a single one says nothing.
std::string RoffFlags(const HelpParts& parts) {
  std::string text;
  for (const FlagShape* word : parts.words) text += RoffEntry(*word);
  for (const FlagSection& section : parts.sections) {
    if (parts.sections.size() > 1) text += ".PP\n" + BoldInRoff(section.heading + ":") + "\n";
    for (const FlagShape* flag : section.flags) text += RoffEntry(*flag);
  }
  return text;
}

std::string RoffSettingsPointer(const HelpParts& parts) {
  if (parts.settings.empty()) return "";
  return RoffParagraph("Settings of the emulator, such as " + FirstSettings(parts) +
                       ": see caip-settings(1).");
}

std::string RoffProse(const HelpParts& parts) {
  std::string text;
  for (const std::string& paragraph : parts.paragraphs) text += RoffParagraph(paragraph);
  return text;
}

// Lines that keep their breaks.
std::string RoffExamples(const HelpParts& parts) {
  if (parts.examples.empty()) return "";
  std::string text = ".nf\n";
  const std::string lines = ReplaceAll("\n" + parts.examples, "\n  ", "\n");
  for (const std::string& line : Split(Trim(lines), '\n')) text += RoffLine(line);
  return text + ".fi\n";
}

// The commands below, without groups.
void FindLeafCommands(const CommandShape& shape, std::vector<const CommandShape*>& leaves) {
  if (!shape.is_group) leaves.push_back(&shape);
  for (const auto& child : shape.children) FindLeafCommands(*child, leaves);
}

// "submits, shows and stops training jobs", from "Submits, shows and stops training jobs."
std::string SummaryOf(const CommandShape& shape) {
  const std::string& description = shape.description;
  std::string first = description.substr(0, description.find(". "));
  if (first.ends_with('.')) first.pop_back();
  const bool is_acronym = first.size() > 1 && UpperCase(first.substr(0, 2)) == first.substr(0, 2);
  return is_acronym ? first : LowerCase(first.substr(0, 1)) + first.substr(1);
}

// "caip-jobs", the name of the page of `caip jobs`.
std::string ManPageName(const CommandShape& shape) {
  if (shape.path == shape.name) return shape.name;
  return "caip-" + shape.name;
}

std::string BeginManPage(const CommandShape& shape, std::string_view version) {
  const std::string name = EscapedForRoff(ManPageName(shape));
  return ".\\\" Made by `caip help --man`.\n.TH " + UpperCase(name) + " 1 \"\" \"caip " +
         std::string(version) + "\" \"caip manual\"\n" +
         RoffSection("NAME", name + " \\- " + EscapedForRoff(SummaryOf(shape)) + "\n");
}

std::string SeeAlsoPages(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += ".BR " + EscapedForRoff(name) + (name == names.back() ? " (1)\n" : " (1),\n");
  }
  return RoffSection("SEE ALSO", text);
}

std::string RoffUsage(const CommandShape& shape) {
  std::string text;
  for (const std::string& line : UsageLines(shape)) {
    text += (text.empty() ? "" : ".br\n") + RoffLine(line);
  }
  return text;
}

std::string ManPageOfCommand(const CommandShape& shape, std::string_view version) {
  const HelpParts parts = PartsOf(shape);
  std::string text = BeginManPage(shape, version);
  if (!shape.path.empty()) text += RoffSection("SYNOPSIS", RoffUsage(shape));
  text += RoffSection("DESCRIPTION", RoffLines(shape.description) + RoffProse(parts));
  const std::string flags = RoffFlags(parts) + RoffSettingsPointer(parts);
  if (!flags.empty()) text += RoffSection("OPTIONS", flags);
  if (!parts.examples.empty()) text += RoffSection("EXAMPLES", RoffExamples(parts));
  return text + SeeAlsoPages({"caip", shape.path.empty() ? "caip-serve" : "caip-settings"});
}

// A group and all commands below it.
std::string ManPageOfGroup(const CommandShape& shape, std::string_view version) {
  std::vector<const CommandShape*> leaves;
  FindLeafCommands(shape, leaves);
  std::string synopsis = ".nf\n";
  std::string commands;
  for (const CommandShape* leaf : leaves) {
    synopsis += RoffUsage(*leaf);
    const HelpParts parts = PartsOf(*leaf);
    commands += ".SS " + EscapedForRoff(leaf->path) + "\n" + RoffLines(leaf->description) +
                RoffFlags(parts) + RoffSettingsPointer(parts) + RoffProse(parts) +
                RoffParagraph("Examples:") + RoffExamples(parts);
  }
  return BeginManPage(shape, version) + RoffSection("SYNOPSIS", synopsis + ".fi\n") +
         RoffSection("DESCRIPTION", RoffLines(shape.description)) +
         RoffSection("COMMANDS", commands) + SeeAlsoPages({"caip", "caip-settings"});
}

std::string ManPageOfRoot(const CommandShape& root, std::string_view version) {
  const HelpParts parts = PartsOf(root);
  std::vector<std::string> names = {"caip-settings"};
  std::string commands;
  for (const auto& child : root.children) {
    names.push_back(ManPageName(*child));
    commands +=
        ".TP\n.BR " + EscapedForRoff(names.back()) + " (1)\n" + RoffLines(child->description);
  }
  const std::string where = RoffParagraph(
      "Texts name pages such as docs/formats.md. They are below share/doc/caip of the prefix into "
      "which caip is installed.");
  return BeginManPage(root, version) + RoffSection("SYNOPSIS", RoffUsage(root)) +
         RoffSection("DESCRIPTION", RoffLines(root.description) + RoffProse(parts) + where) +
         RoffSection("COMMANDS", commands) +
         RoffSection("OPTIONS", RoffLines(kSwitchRule) + RoffFlags(parts)) +
         RoffSection("EXAMPLES", RoffExamples(parts)) + SeeAlsoPages(names);
}

}  // namespace

std::vector<ManPage> ManPages(const CommandShape& root, std::string_view version) {
  std::vector<ManPage> pages = {
      {"caip.1", ManPageOfRoot(root, version)},
      {"caip-settings.1", ManPageOfCommand(*SettingsPage(root), version)}};
  for (const auto& child : root.children) {
    pages.push_back({ManPageName(*child) + ".1", child->is_group
                                                     ? ManPageOfGroup(*child, version)
                                                     : ManPageOfCommand(*child, version)});
  }
  return pages;
}

}  // namespace caip::cli
