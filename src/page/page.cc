#include "page/page.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/quoting.h"
#include "base/text.h"

namespace caip::page {
namespace {

constexpr size_t kExactIntegerMax = 15;  // digits

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Joints of paths, names and lists, after which a break disturbs least.
bool IsJoint(std::string_view character) {
  return std::string_view("/\\_-.,:;=&?|").find(character) != std::string_view::npos;
}

std::vector<std::string_view> CharactersOf(std::string_view word) {
  std::vector<std::string_view> characters;
  while (!word.empty()) {
    const size_t length = std::max<size_t>(1, Utf8Length(word));
    characters.push_back(word.substr(0, length));
    word.remove_prefix(length);
  }
  return characters;
}

std::string BreakableWord(std::string_view word) {
  if (word.size() <= kPieceMax) return MarkupText(word);
  const auto characters = CharactersOf(word);
  std::string markup;
  size_t piece = 0;  // its characters
  for (size_t i = 0; i < characters.size(); ++i) {
    markup += MarkupText(characters[i]);
    ++piece;
    const size_t left = characters.size() - i - 1;
    const bool may_break = piece >= kPieceMin && left >= kPieceMin;
    // The last pieces share the rest, so that neither is too short.
    const bool must_break = piece >= kPieceMax - kPieceMin;
    if (!may_break || !(must_break || IsJoint(characters[i]))) continue;
    markup += "<wbr>";
    piece = 0;
  }
  return markup;
}

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() <= kExactIntegerMax && IsDigits(text);
}

std::string Pixels(double length) { return std::to_string(std::lround(length)) + "px"; }

std::string SvgOf(const char* kind, const std::string& size, const Drawing& drawing,
                  const std::string& shapes) {
  return std::string("<svg class=\"") + kind + "\" style=\"" + size + "\" height=\"" +
         std::to_string(std::lround(drawing.height)) + "\"" +
         (std::string_view(kind) == "labels"
              ? " aria-hidden=\"true\""
              : " role=\"img\" aria-label=\"" + MarkupText(drawing.label) + "\"") +
         ">\n" + shapes + "</svg>\n";
}

// A part of the page that scrolls by itself, also with the keyboard.
std::string Scrolling(std::string_view label, const std::string& markup) {
  return "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + MarkupText(label) +
         "\">\n" + markup + "</div>\n";
}

}  // namespace

std::string PageMarkup(std::string_view title, std::string_view body) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  page += MarkupText(title);
  page += "</title>\n<style>\n";
  page += StyleText();
  page += "</style>\n</head>\n<body>\n";
  page += body;
  page += "<div id=\"tip\" hidden></div>\n<script>\n";
  page += TipsText();
  return page + "</script>\n</body>\n</html>\n";
}

std::string BreakableText(std::string_view text) {
  std::string markup;
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() && !IsBlank(text[end])) ++end;
    markup += BreakableWord(text.substr(0, end));
    if (end < text.size()) markup += text[end++] == '\r' ? ' ' : text[end - 1];
    text.remove_prefix(end);
  }
  return markup;
}

std::string BlockText(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::string markup = BreakableText(text);
  // A parser drops a line break right after <pre>, so that the first line needs one of its own.
  return text.find('\n') == std::string_view::npos ? markup : "<pre>\n" + markup + "</pre>";
}

std::string RoundedNumber(std::string_view exact) {
  const std::string text(exact);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number =
      !text.empty() && end == text.c_str() + text.size() && std::isfinite(number);
  if (!is_number || IsInteger(text)) return BreakableText(text);
  char rounded[32];
  std::snprintf(rounded, sizeof rounded, "%.6g", number);
  if (text.size() <= std::string_view(rounded).size()) return MarkupText(text);
  return "<span title=\"" + MarkupText(text) + "\">" + rounded + "</span>";
}

std::string RoundedNumber(double number) {
  char exact[32];
  const auto end = std::to_chars(exact, exact + sizeof exact, number).ptr;
  return RoundedNumber(std::string_view(exact, static_cast<size_t>(end - exact)));
}

std::string TableMarkup(std::string_view kind, std::string_view label,
                        const std::vector<Column>& columns, std::string_view rows) {
  std::string table = "<table role=\"table\" class=\"" + MarkupText(kind) + "\">\n<thead><tr>";
  for (const Column& column : columns) {
    table += std::string("<th scope=\"col\"") + (column.has_numbers ? " class=\"number\">" : ">") +
             BreakableText(column.name) + "</th>";
  }
  table += "</tr></thead>\n<tbody>\n";
  table += rows;
  return Scrolling(label, table + "</tbody>\n</table>\n");
}

std::string DrawingMarkup(const Drawing& drawing) {
  std::string markup = "<div class=\"drawing\">\n";
  // Labels cover what the plot has left of its edge, so that they stay readable when it scrolls.
  const bool has_labels = !drawing.labels.empty();
  if (has_labels) {
    markup += SvgOf("labels", "width:" + Pixels(drawing.left), drawing, drawing.labels);
  }
  const std::string margin =
      "0 " + Pixels(drawing.right) + " 0 " + (has_labels ? "0" : Pixels(drawing.left));
  markup += SvgOf("plot", "min-width:" + Pixels(drawing.min_width) + ";margin:" + margin, drawing,
                  drawing.plot);
  return Scrolling(drawing.label, markup + "</div>\n");
}

}  // namespace caip::page
