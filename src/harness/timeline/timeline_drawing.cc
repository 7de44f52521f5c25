#include "harness/timeline/timeline_drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "base/quoting.h"
#include "base/time_text.h"
#include "harness/timeline/glyph_grid.h"
#include "harness/timeline/timeline_layout.h"
#include "page/page.h"

namespace caip::harness {
namespace {

constexpr double kColumnsMax = 2000;  // in a wider drawing, small marks move together
constexpr double kUnit = 11;          // pixels of a column in a narrow window
constexpr double kCharacter = 7.5;    // pixels, rather too wide than too narrow
constexpr double kNear = 1.5;         // pixels: marks of a kind that are nearer share one element
constexpr double kTextLine = 14;      // height of a line of labels
constexpr double kAboveBar = 34;      // the boots' numbers, and space
constexpr double kBelowBar = 22;      // the names of folders
constexpr double kRowNameMax = 160;   // pixels
constexpr size_t kLinesMax = 3;       // of labels that would overlap on one line
constexpr size_t kTipMax = 600;       // bytes of an event's description

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

std::string Whole(double number) { return std::to_string(std::lround(number)); }

double WidthOf(const std::string& text) {
  return kCharacter * static_cast<double>(Columns(text)) + kCharacter;
}

/// Lines of labels above or below a bar. A label is on the first line where it overlaps no other.
class LabelLines {
 public:
  explicit LabelLines(size_t most) : most_(most) {}
  /// Labels come from left to right. The line, or nullopt if there is no room.
  std::optional<size_t> Place(double x, double width) {
    for (size_t line = 0; line < most_; ++line) {
      if (line == ends_.size()) ends_.push_back(0);
      if (x < ends_[line]) continue;
      ends_[line] = x + width;
      return line;
    }
    return std::nullopt;
  }
  double height() const { return kTextLine * static_cast<double>(ends_.size()); }

 private:
  size_t most_;
  std::vector<double> ends_;  // by line: the right end of its last label
};

class TimelinePicture {
 public:
  explicit TimelinePicture(const EventList& list)
      : list_(list), layout_(LayOut(list, kColumnsMax)) {}

  page::Drawing Draw() {
    PlaceStates();
    PlaceBars();
    PlaceRows();
    page::Drawing drawing;
    drawing.label = "Timeline of the run";
    drawing.labels = RowNames();
    drawing.plot = Rules() + Bars() + Folders() + Marks() + StateNames();
    for (const std::string& row : layout_.rows) {
      drawing.left = std::max(drawing.left, WidthOf(row) + 8);
    }
    drawing.left = std::min(drawing.left, kRowNameMax);
    drawing.right = right_;
    drawing.height = rows_.back() + kBelowBar + small_.back().height() + 8;
    drawing.min_width = std::max(120.0, layout_.width * kUnit);
    return drawing;
  }

 private:
  struct PlacedText {
    double at = 0;
    size_t line = 0;
    std::string text;
  };

  // The position in a plot of any width.
  std::string Percent(double at) const {
    char text[32];
    const double share = layout_.width > 0 ? at / layout_.width : 0;
    std::snprintf(text, sizeof text, "%.3f%%", share * 100);
    return text;
  }

  std::string Text(double at, double y, const char* kind, const std::string& text) const {
    return std::string("<text class=\"") + kind + "\" x=\"" + Percent(at) + "\" y=\"" + Whole(y) +
           "\">" + MarkupText(text) + "</text>\n";
  }

  std::string Box(const char* kind, double from, double to, double y) const {
    return std::string("<rect class=\"") + kind + "\" x=\"" + Percent(from) + "\" y=\"" +
           Whole(y - 6) + "\" width=\"" + Percent(to - from) + "\" height=\"12\" rx=\"3\"/>\n";
  }

  // A label may leave the plot on the right.
  void NeedRight(double at, double width) {
    right_ = std::max(right_, at * kUnit + width - layout_.width * kUnit);
  }

  void PlaceStates() {
    LabelLines lines(kLinesMax);
    for (const Mark& mark : layout_.marks) {
      if (mark.kind != Mark::Kind::kState) continue;
      const std::string name = OneLine(list_.events[mark.event].As<StateEvent>()->state, 24);
      const auto line = lines.Place(mark.at * kUnit, WidthOf(name));
      if (!line) continue;
      states_.push_back({mark.at, *line, name});
      NeedRight(mark.at, WidthOf(name));
    }
    above_ = lines.height();
  }

  void PlaceBars() {
    std::vector<LabelLines> steps(layout_.rows.size(), LabelLines(kLinesMax));
    boots_.assign(layout_.bars.size(), true);
    std::map<size_t, LabelLines> boots;
    for (size_t i = 0; i < layout_.bars.size(); ++i) {
      const Bar& bar = layout_.bars[i];
      const std::string boot = "boot " + std::to_string(bar.boot);
      boots_[i] = boots.try_emplace(bar.row, 1)
                      .first->second.Place(bar.from * kUnit, WidthOf(boot))
                      .has_value();
      if (boots_[i]) NeedRight(bar.from, WidthOf(boot));
      const std::string text = OneLine(DescribeSteps(bar), 60);
      if (text.empty()) continue;
      const auto line = steps[bar.row].Place(bar.from * kUnit, WidthOf(text));
      if (!line) continue;
      steps_[i] = {bar.from, *line, text};
      NeedRight(bar.from, WidthOf(text));
    }
    small_ = std::move(steps);
  }

  void PlaceRows() {
    double y = above_ + 16;
    for (size_t row = 0; row < layout_.rows.size(); ++row) {
      if (row > 0) y += kAboveBar;
      rows_.push_back(y);
      y += (row > 0 ? kBelowBar : 8) + small_[row].height();
    }
  }

  std::string RowNames() const {
    std::string svg;
    const auto columns = static_cast<size_t>(kRowNameMax / kCharacter) - 1;
    for (size_t row = 0; row < layout_.rows.size(); ++row) {
      const std::string name = OneLine(layout_.rows[row], columns);
      svg += "<text class=\"row\" x=\"0\" y=\"" + Whole(rows_[row] + 4) + "\">" +
             (name == layout_.rows[row]
                  ? ""
                  : "<title>" + MarkupText(CutTip(layout_.rows[row])) + "</title>") +
             MarkupText(name) + "</text>\n";
    }
    return svg;
  }

  std::string Rules() const {
    std::string svg;
    for (const double y : rows_) {
      svg += "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"" + Whole(y) + "\" y2=\"" + Whole(y) +
             "\"/>\n";
    }
    return svg;
  }

  std::string Bars() const {
    std::string svg;
    for (size_t i = 0; i < layout_.bars.size(); ++i) {
      const Bar& bar = layout_.bars[i];
      const double y = rows_[bar.row];
      svg += Box("starting", bar.from, bar.up, y) + Box("up", bar.up, bar.to, y);
      if (boots_[i]) svg += Text(bar.from, y - 13, "boot", "boot " + std::to_string(bar.boot));
      const auto steps = steps_.find(i);
      if (steps == steps_.end()) continue;
      svg +=
          Text(bar.from, y + kBelowBar + 12 + kTextLine * static_cast<double>(steps->second.line),
               "steps", steps->second.text);
    }
    return svg;
  }

  // The names of folders that fit.
  std::string Folders() {
    std::string svg;
    std::map<size_t, LabelLines> lines;  // by row
    for (const WriteGroup& group : layout_.groups) {
      if (group.folder.empty()) continue;
      const std::string name = OneLine(group.folder, 40);
      const double width = WidthOf(name);
      if (!lines.try_emplace(group.row, 1).first->second.Place(group.from * kUnit, width)) continue;
      svg += Text(group.from, rows_[group.row] + 20, "folder", name);
      NeedRight(group.from, width);
    }
    return svg;
  }

  std::string StateNames() const {
    std::string svg;
    for (const PlacedText& state : states_) {
      svg += Text(state.at, rows_[0] - 14 - kTextLine * static_cast<double>(state.line), "name",
                  state.text);
    }
    return svg;
  }

  std::string TipOf(const Event& event) const {
    const Duration after = event.time - list_.events.front().time;
    return "#" + std::to_string(event.number) + "  +" + HumanDuration(after) + "\n" +
           CutTip(DescribeForTimeline(event));
  }

  // Small marks of one kind at one place become one element, so that a million steps stay readable.
  std::string Marks() const {
    std::string svg;
    std::map<std::pair<size_t, Mark::Kind>, double> last;
    for (const Mark& mark : layout_.marks) {
      const Event& event = list_.events[mark.event];
      const double x = mark.at * kUnit;
      const auto [before, fresh] = last.try_emplace({mark.row, mark.kind}, x);
      const bool small = mark.kind > Mark::Kind::kLive;
      if (small && !fresh && x - before->second < kNear) continue;
      before->second = x;
      const std::string kind = ClassOf(mark, event);
      svg += "<use href=\"#mark-" + kind.substr(0, kind.find(' ')) + "\" class=\"mark " + kind +
             "\" x=\"" + Percent(mark.at) + "\" y=\"" + Whole(rows_[mark.row]) + "\" data-tip=\"" +
             MarkupText(TipOf(event)) + "\"/>\n";
    }
    return svg;
  }

  const EventList& list_;
  TimelineLayout layout_;
  double above_ = 0;                    // height of the names of states
  double right_ = 20;                   // space for labels right of the plot
  std::vector<double> rows_;            // by row: y of its bar
  std::vector<PlacedText> states_;      // names
  std::vector<bool> boots_;             // by bar: whether its number has room
  std::map<size_t, PlacedText> steps_;  // by bar
  std::vector<LabelLines> small_;       // by row: the lines of its steps
};

}  // namespace

std::string CutTip(std::string text) {
  if (text.size() <= kTipMax) return text;
  size_t end = kTipMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string TimelineDrawing(const EventList& list) {
  std::string markup(TimelineMarkShapes());
  markup += page::DrawingMarkup(TimelinePicture(list).Draw());
  markup += TimelineLegend();
  return markup;
}

}  // namespace caip::harness
