// A timeline as one HTML page.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "harness/timeline/timeline.h"
#include "harness/timeline/timeline_drawing.h"
#include "harness/timeline/timeline_layout.h"
#include "page/page.h"

namespace caip::harness {
namespace {

constexpr size_t kTableMax = 5000;           // rows of the table of events
constexpr size_t kEventTextMax = 8000;       // bytes of an event in the table
constexpr size_t kEventTextHead = 2000;      // kept of a longer one, with its end
constexpr size_t kTextOfTableMax = 2 << 20;  // bytes of long events together

bool BeginsInCharacter(const std::string& text, size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// A long text without its middle. A traceback's last lines say most.
std::string WithoutMiddle(const std::string& text) {
  if (text.size() <= kEventTextMax) return text;
  size_t head = kEventTextHead;
  while (head > 0 && BeginsInCharacter(text, head)) --head;
  size_t tail = text.size() - (kEventTextMax - kEventTextHead);
  while (tail < text.size() && BeginsInCharacter(text, tail)) ++tail;
  return text.substr(0, head) + "\n… " + std::to_string(tail - head) +
         " bytes are in the event list only …\n" + text.substr(tail);
}

std::string RoundedToken(const std::string& number) {
  if (number.find_first_of(".eE") == std::string::npos) return number;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", std::strtod(number.c_str(), nullptr));
  return text;
}

// JSON text with at most six digits in each number that is not an integer. A rounded Json would not
// do: its text may have more digits than are needed.
std::string WithRoundedNumbers(const std::string& json) {
  std::string text;
  bool quoted = false;
  for (size_t at = 0; at < json.size();) {
    size_t length = 1;
    const char c = json[at];
    if (!quoted && (c == '-' || IsDigit(c))) {
      length = std::min(json.find_first_not_of("0123456789+-.eE", at), json.size()) - at;
      text += RoundedToken(json.substr(at, length));
    } else {
      if (c == '\\') length = 2;  // an escaped character
      if (c == '"') quoted = !quoted;
      text += json.substr(at, length);
    }
    at += length;
  }
  return text;
}

/// The texts of the table of events. Long texts share a limit, so that a page stays readable.
class EventTexts {
 public:
  // The markup of a cell.
  std::string Cell(const Event& event) {
    const std::string exact = DescribeForTimeline(event);
    const auto* step = event.As<StepEvent>();
    if (!step) return "<td>" + page::BlockText(Bounded(exact)) + "</td>";
    const std::string record = CompactJson(step->record);  // the end of `exact`
    const std::string text =
        exact.substr(0, exact.size() - record.size()) + WithRoundedNumbers(record);
    const std::string title = text == exact ? "" : " title=\"" + MarkupText(CutTip(exact)) + "\"";
    return "<td" + title + ">" + page::BlockText(Bounded(text)) + "</td>";
  }

 private:
  std::string Bounded(const std::string& text) {
    std::string kept = CutTip(text);
    if (kept.size() >= text.size() || used_ > kTextOfTableMax) return kept;
    kept = WithoutMiddle(text);
    used_ += kept.size();
    return kept;
  }

  size_t used_ = 0;
};

std::string VerdictMarkup(const EventList& list) {
  if (!list.judged) return "<p class=\"bad\">No verdict: the list ends before the run did.</p>\n";
  std::string html = std::string("<p><strong class=\"badge ") +
                     (list.passed ? "good\">PASSED" : "bad\">FAILED") + "</strong> the job is " +
                     page::BreakableText(list.state) + "</p>\n";
  if (!list.error.empty()) html += "<pre>\n" + page::BreakableText(list.error) + "</pre>\n";
  if (!list.why_not.empty()) html += "<p>" + page::BreakableText(list.why_not) + "</p>\n";
  if (!list.replay.empty()) {
    html += "<p>Again: <code>" + page::BreakableText(list.replay) + "</code></p>\n";
  }
  return html;
}

std::string AssertionCell(const char* label, const std::string& text) {
  return std::string("<td role=\"cell\" data-label=\"") + label + "\">" + page::BlockText(text) +
         "</td>";
}

// In a narrow window, the cells of a row stand below each other (style.css). The roles keep it a
// table for a screen reader.
std::string AssertionsMarkup(const EventList& list) {
  if (list.assertions.empty()) return "";
  std::string rows;
  for (const Assertion& one : list.assertions) {
    rows += std::string(
                "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">"
                "<span class=\"badge ") +
            (one.passed ? "good\">ok" : "bad\">BROKEN") + "</span></th>" +
            AssertionCell("assertion", one.name) + AssertionCell("expected", one.expected) +
            AssertionCell("found", one.found) + "</tr>\n";
  }
  return "<h2>Assertions</h2>\n" +
         page::TableMarkup("assertions", "Assertions",
                           {{"result"}, {"assertion"}, {"expected"}, {"found"}}, rows);
}

std::string EventsMarkup(const EventList& list) {
  std::string rows;
  size_t shown = 0;
  EventTexts texts;
  for (const Event& event : list.events) {
    if (++shown > kTableMax) break;
    rows += std::string("<tr") + (IsHighlight(event) ? " class=\"highlight\"" : "") +
            "><th scope=\"row\" class=\"number\">" + std::to_string(event.number) +
            "</th><td class=\"number\">" + HumanDuration(event.time - list.events.front().time) +
            "</td><td>" + std::string(KindName(event)) + "</td>" + texts.Cell(event) + "</tr>\n";
  }
  std::string html = "<details><summary>All " + std::to_string(list.events.size()) +
                     " events</summary>\n" +
                     page::TableMarkup("events", "Events",
                                       {{"n", true}, {"after", true}, {"kind"}, {"event"}}, rows);
  if (list.events.size() > kTableMax) {
    html += "<p>and " + std::to_string(list.events.size() - kTableMax) +
            " more in the event list.</p>\n";
  }
  return html + "</details>\n";
}

}  // namespace

std::string TimelineHtml(const EventList& list) {
  std::string body = "<h1>" + page::BreakableText(list.file) + "</h1>\n";
  if (!list.description.empty()) {
    body += "<p>" + page::BreakableText(list.description) + "</p>\n";
  }
  body += "<p class=\"faint\">seed " + std::to_string(list.seed) + ", " +
          page::BreakableText(list.semantics) + " semantics</p>\n" + VerdictMarkup(list);
  if (!list.events.empty()) {
    body +=
        "<h2>Timeline</h2>\n<p class=\"faint\">Events stand from left to right in their order, "
        "not to scale of time.</p>\n" +
        TimelineDrawing(list);
  }
  body += AssertionsMarkup(list);
  if (!list.events.empty()) body += EventsMarkup(list);
  return page::PageMarkup(list.file, body);
}

}  // namespace caip::harness
