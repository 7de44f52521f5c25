// A timeline as one HTML page.

#include <cmath>
#include <map>

#include "base/quoting.h"
#include "base/time_text.h"
#include "harness/timeline/timeline.h"
#include "harness/timeline/timeline_layout.h"

namespace caip::harness {
namespace {

const char kTimelineStyle[] = R"(:root { color-scheme: light dark; --fg: #1c1e21; --bg: #ffffff;
  --faint: #6b7280; --rule: #d6d9de; --up: #8fc7a0; --starting: #dfe5df; --write: #0b7285;
  --bad: #c92a2a; --good: #2b8a3e; --step: #2f5d3c; --tip: #f1f3f5; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6e6e6; --bg: #16181b; --faint: #9aa0a6;
  --rule: #3a3f45; --up: #2f6b45; --starting: #2a302c; --write: #4fc3d7; --bad: #ff7b72;
  --good: #57c77a; --step: #b7e3c4; --tip: #24282d; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--fg); background: var(--bg);
  margin: 1.5rem; }
h1 { font-size: 1.15rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; } .faint, .legend { color: var(--faint); }
.scroll { overflow-x: auto; margin: 1rem 0 .3rem; }
.good, .good > td:first-child { color: var(--good); }
.bad, .bad > td:first-child { color: var(--bad); }
svg text { font: 12px ui-monospace, monospace; fill: var(--fg); }
svg .row { font-weight: 600; } svg .name { font-weight: 600; }
svg .steps, svg .boot { fill: var(--faint); } svg .folder { fill: var(--write); }
.rule { stroke: var(--rule); } .up { fill: var(--up); } .starting { fill: var(--starting); }
.mark { stroke: var(--fg); stroke-width: 1.5; fill: none; pointer-events: all; }
.mark:hover { stroke-width: 3; }
.mark.state { stroke-width: 2; } .mark.step, .mark.live { stroke: var(--step); }
.mark.write { fill: var(--write); stroke: var(--write); } .mark.delete { stroke: var(--write); }
.mark.fault { fill: var(--bad); stroke: var(--bad); }
.mark.exit { stroke: var(--good); stroke-width: 2.5; } .mark.exit.bad { stroke: var(--bad); }
.mark.read, .mark.line, .mark.start { stroke: var(--faint); }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { text-align: left; vertical-align: top; padding: .1rem .8rem .1rem 0;
  overflow-wrap: anywhere; }
th { color: var(--faint); font-weight: 500; } td { font: 12px/1.5 ui-monospace, monospace; }
.highlight { color: var(--bad); } summary { cursor: pointer; margin-top: 1rem; }
code { font: 12px ui-monospace, monospace; }
#tip { position: fixed; max-width: 40rem; padding: .4rem .6rem; border-radius: 6px;
  background: var(--tip); border: 1px solid var(--rule); font: 12px/1.4 ui-monospace, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; pointer-events: none; }
)";

const char kTimelineLegend[] =
    R"(<p class="legend">Bars are boots (pale: starting). &#9670; written, &#9671; deleted,
ticks: steps (on the bar), reads and listings (below), log lines (above), &#9650; fault,
&#10007; an end: red when it was killed or failed. Point at a mark to read it.</p>
)";

const char kTimelineScript[] = R"(const tip = document.getElementById('tip');
document.addEventListener('pointerover', (event) => {
  const text = event.target.dataset && event.target.dataset.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  const top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8);
  tip.style.left = Math.max(left, 8) + 'px';
  tip.style.top = Math.max(top, 8) + 'px';
});
)";

constexpr double kColumnsMax = 2000;  // in a wider drawing, small marks move together
constexpr double kUnit = 11;          // pixels per column
constexpr double kMargin = 110;       // for the names of rows
constexpr double kTop = 70;           // for the names of states
constexpr double kRowHeight = 64;
constexpr double kNear = 1.5;       // pixels: marks of a kind that are nearer share one element
constexpr size_t kTipMax = 600;     // bytes of an event's description
constexpr size_t kTableMax = 5000;  // rows of the table of events

// Cuts the text between two characters.
std::string CutTip(std::string text) {
  if (text.size() <= kTipMax) return text;
  size_t end = kTipMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string Number(double value) {
  std::string text = std::to_string(std::lround(value * 10));
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  if (text.size() < 2) text.insert(0, "0");
  return (negative ? "-" : "") + text.substr(0, text.size() - 1) + "." + text.back();
}

double X(double at) { return kMargin + at * kUnit; }
double Y(size_t row) { return kTop + static_cast<double>(row) * kRowHeight; }

const char* ClassOf(const Mark& mark, const Event& event) {
  switch (mark.kind) {
    case Mark::Kind::kState:
      return "state";
    case Mark::Kind::kFault:
      return "fault";
    case Mark::Kind::kExit:
      return EndedWell(*event.As<ExitEvent>()) ? "exit" : "exit bad";
    case Mark::Kind::kStart:
      return "start";
    case Mark::Kind::kLive:
      return "live";
    case Mark::Kind::kWrite:
      return "write";
    case Mark::Kind::kDelete:
      return "delete";
    case Mark::Kind::kRead:
      return "read";
    case Mark::Kind::kStep:
      return "step";
    case Mark::Kind::kLine:
      return "line";
  }
  return "line";
}

// The outline of a mark around x, y.
std::string Shape(Mark::Kind kind, double x, double y) {
  const auto at = [&](double dx, double dy) { return Number(x + dx) + " " + Number(y + dy); };
  switch (kind) {
    case Mark::Kind::kFault:
      return "M" + at(0, -12) + "L" + at(8, 4) + "L" + at(-8, 4) + "Z";
    case Mark::Kind::kExit:
      return "M" + at(-6, -6) + "L" + at(6, 6) + "M" + at(6, -6) + "L" + at(-6, 6);
    case Mark::Kind::kWrite:
    case Mark::Kind::kDelete:
      return "M" + at(0, -6) + "L" + at(5, 0) + "L" + at(0, 6) + "L" + at(-5, 0) + "Z";
    case Mark::Kind::kStep:
      return "M" + at(0, -4) + "L" + at(0, 4);
    case Mark::Kind::kRead:
      return "M" + at(0, 4) + "L" + at(0, 9);
    case Mark::Kind::kLine:
      return "M" + at(0, -9) + "L" + at(0, -5);
    default:
      return "M" + at(0, -8) + "L" + at(0, 8);
  }
}

std::string Text(double x, double y, const std::string& name, const std::string& text) {
  return "<text class=\"" + name + "\" x=\"" + Number(x) + "\" y=\"" + Number(y) + "\">" +
         MarkupText(text) + "</text>\n";
}

std::string TipOf(const EventList& list, const Event& event) {
  const Duration after = event.time - list.events.front().time;
  return "#" + std::to_string(event.number) + "  +" + HumanDuration(after) + "\n" +
         CutTip(DescribeForTimeline(event));
}

std::string Box(const char* name, double from, double to, double y) {
  return std::string("<rect class=\"") + name + "\" x=\"" + Number(X(from)) + "\" y=\"" +
         Number(y - 6) + "\" width=\"" + Number((to - from) * kUnit) +
         "\" height=\"12\" rx=\"3\"/>\n";
}

std::string Bars(const TimelineLayout& layout) {
  std::string svg;
  for (const Bar& bar : layout.bars) {
    const double y = Y(bar.row);
    svg += Box("starting", bar.from, bar.up, y) + Box("up", bar.up, bar.to, y);
    svg += Text(X(bar.from), y - 12, "boot", "boot " + std::to_string(bar.boot));
    const std::string steps = DescribeSteps(bar);
    if (!steps.empty()) svg += Text(X(bar.from), y + 34, "steps", CutTip(steps));
  }
  std::map<size_t, double> used;  // by row: the right end of the last folder's name
  for (const WriteGroup& group : layout.groups) {
    const double x = X(group.from) - 4;
    if (group.folder.empty() || x < used[group.row]) continue;
    used[group.row] = x + 7 * static_cast<double>(group.folder.size());
    svg += Text(x, Y(group.row) + 20, "folder", CutTip(group.folder));
  }
  return svg;
}

// Small marks of one kind at one place become one element, so that a million steps stay readable.
std::string Marks(const EventList& list, const TimelineLayout& layout) {
  std::string svg;
  std::map<std::pair<size_t, Mark::Kind>, double> last;
  size_t states = 0;
  for (const Mark& mark : layout.marks) {
    const Event& event = list.events[mark.event];
    const double x = X(mark.at);
    const auto [before, fresh] = last.try_emplace({mark.row, mark.kind}, x);
    const bool small = mark.kind > Mark::Kind::kLive;
    if (small && !fresh && x - before->second < kNear) continue;
    before->second = x;
    svg += std::string("<path class=\"mark ") + ClassOf(mark, event) + "\" d=\"" +
           Shape(mark.kind, x, Y(mark.row)) + "\" data-tip=\"" + MarkupText(TipOf(list, event)) +
           "\"/>\n";
    if (mark.kind != Mark::Kind::kState) continue;
    const double level = static_cast<double>(states++ % 3);
    svg += Text(x - 2, Y(0) - 14 - 14 * level, "name", CutTip(event.As<StateEvent>()->state));
  }
  return svg;
}

std::string Svg(const EventList& list) {
  const TimelineLayout layout = LayOut(list, kColumnsMax);
  const double width = X(layout.width) + 110;
  const double height = Y(layout.rows.size() - 1) + kRowHeight;
  std::string svg = "<svg width=\"" + Number(width) + "\" height=\"" + Number(height) +
                    "\" viewBox=\"0 0 " + Number(width) + " " + Number(height) +
                    "\" role=\"img\" aria-label=\"timeline\">\n";
  for (size_t row = 0; row < layout.rows.size(); ++row) {
    svg += Text(4, Y(row) + 4, "row", CutTip(layout.rows[row]));
    svg += "<path class=\"rule\" d=\"M" + Number(X(0)) + " " + Number(Y(row)) + "H" +
           Number(X(layout.width)) + "\"/>\n";
  }
  return svg + Bars(layout) + Marks(list, layout) + "</svg>\n";
}

std::string VerdictOf(const EventList& list) {
  if (!list.judged) return "<p class=\"bad\">No verdict: the list ends before the run did.</p>\n";
  std::string html = std::string("<p><b class=\"") +
                     (list.passed ? "good\">PASSED" : "bad\">FAILED") + "</b> the job is " +
                     MarkupText(list.state) + "</p>\n";
  if (!list.error.empty()) html += "<pre>" + MarkupText(list.error) + "</pre>\n";
  if (!list.why_not.empty()) html += "<p>" + MarkupText(list.why_not) + "</p>\n";
  html +=
      "<table class=\"assertions\"><tr><th></th><th>assertion</th><th>expected</th><th>found"
      "</th></tr>\n";
  for (const Assertion& one : list.assertions) {
    html += std::string("<tr class=\"") + (one.passed ? "good\"><td>ok" : "bad\"><td>BROKEN") +
            "</td><td>" + MarkupText(one.name) + "</td><td>" + MarkupText(one.expected) +
            "</td><td>" + MarkupText(one.found) + "</td></tr>\n";
  }
  html += "</table>\n";
  if (!list.replay.empty()) html += "<p>Again: <code>" + MarkupText(list.replay) + "</code></p>\n";
  return html;
}

std::string Table(const EventList& list) {
  std::string html =
      "<details><summary>All " + std::to_string(list.events.size()) +
      " events</summary>\n<table class=\"events\"><tr><th>n</th><th>after</th><th></th></tr>\n";
  size_t shown = 0;
  for (const Event& event : list.events) {
    if (++shown > kTableMax) break;
    html += std::string("<tr") + (IsHighlight(event) ? " class=\"highlight\"" : "") + "><td>" +
            std::to_string(event.number) + "</td><td>" +
            HumanDuration(event.time - list.events.front().time) + "</td><td>" +
            MarkupText(CutTip(DescribeForTimeline(event))) + "</td></tr>\n";
  }
  html += "</table>\n";
  if (list.events.size() > kTableMax) {
    html += "<p>and " + std::to_string(list.events.size() - kTableMax) +
            " more in the event list.</p>\n";
  }
  return html + "</details>\n";
}

}  // namespace

std::string TimelineHtml(const EventList& list) {
  std::string html = std::string("<!doctype html>\n<html lang=\"en\">\n<head>\n") +
                     "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                     "content=\"width=device-width, initial-scale=1\">\n<title>" +
                     MarkupText(list.file) + "</title>\n<style>\n" + kTimelineStyle +
                     "</style>\n</head>\n<body>\n<h1>" + MarkupText(list.file) + "</h1>\n";
  html += "<p>" + MarkupText(list.description) + "</p>\n<p class=\"faint\">seed " +
          std::to_string(list.seed) + ", " + MarkupText(list.semantics) +
          " semantics; events from left to right in their order, not to scale of time</p>\n";
  if (!list.events.empty()) {
    html += "<div class=\"scroll\">\n" + Svg(list) + "</div>\n" + kTimelineLegend;
  }
  html += VerdictOf(list);
  if (!list.events.empty()) html += Table(list);
  return html + "<div id=\"tip\" hidden></div>\n<script>\n" + kTimelineScript +
         "</script>\n</body>\n</html>\n";
}

}  // namespace caip::harness
