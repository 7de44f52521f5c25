#include <algorithm>
#include <cmath>
#include <optional>

#include "base/time_text.h"
#include "harness/timeline/glyph_grid.h"
#include "harness/timeline/timeline.h"
#include "harness/timeline/timeline_layout.h"

namespace caip::harness {
namespace {

constexpr size_t kRightMargin = 10;  // for the name of the last state
constexpr size_t kHighlightsMax = 60;
constexpr size_t kLabelRowsMax = 12;
constexpr size_t kStepColumnsMax = 44;

size_t ColumnOf(double at) { return static_cast<size_t>(std::floor(at)); }

/// A text that belongs to a column.
struct Label {
  size_t column;
  std::string text;
  Paint paint;
};

// The column where the text begins: its own, or an earlier one if the text would leave the grid.
size_t BeginOf(const GlyphGrid& grid, const Label& label) {
  const size_t length = std::min(Columns(label.text), grid.columns());
  return std::min(label.column, grid.columns() - length);
}

// The first row in which the text fits and its stem, in the rows before, crosses nothing.
std::optional<size_t> RowFor(const GlyphGrid& grid, const Label& label, size_t first) {
  for (size_t row = first; row < first + kLabelRowsMax; ++row) {
    if (grid.IsFree(row, BeginOf(grid, label), Columns(label.text))) return row;
    if (!grid.IsFree(row, label.column, 1)) return std::nullopt;
  }
  return std::nullopt;
}

// Places labels from right to left, each as near to row `first` as possible. Omits labels without
// room.
void PlaceLabels(GlyphGrid& grid, std::vector<Label> labels, size_t first) {
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.column > b.column; });
  for (const Label& label : labels) {
    const auto row = RowFor(grid, label, first);
    if (!row) continue;
    grid.Put(*row, BeginOf(grid, label), label.text, label.paint);
    for (size_t above = first; above < *row; ++above) {
      grid.Put(above, label.column, "│", Paint::kFaint);
    }
  }
}

class Drawing {
 public:
  Drawing(const EventList& list, const TimelineStyle& style) : list_(list), style_(style) {
    const size_t width = static_cast<size_t>(std::max(style.width, 40));
    for (const Event& event : list.events) margin_ = std::max(margin_, event.replica.size());
    margin_ = std::min<size_t>(margin_, 16) + 2;
    plot_ = width - margin_ - kRightMargin;
    columns_ = width - margin_;
    layout_ = LayOut(list, static_cast<double>(plot_ - 1));
  }

  std::string Text() const {
    std::string text = JobRow();
    for (size_t row = 1; row < layout_.rows.size(); ++row) text += ReplicaRow(row);
    return text;
  }

 private:
  // The states are above the job's line, so their grid is read from below.
  std::string JobRow() const {
    GlyphGrid names(columns_);
    std::vector<Label> labels;
    GlyphGrid line(columns_);
    line.Put(0, 0, Repeated("─", ColumnOf(layout_.width) + 1), Paint::kFaint);
    for (const Mark& mark : layout_.marks) {
      if (mark.row != 0) continue;
      const Event& event = list_.events[mark.event];
      if (mark.kind == Mark::Kind::kFault) line.Put(0, ColumnOf(mark.at), "▲", Paint::kRed);
      if (mark.kind != Mark::Kind::kState) continue;
      line.Put(0, ColumnOf(mark.at), "┴", Paint::kBold);
      labels.push_back(
          {ColumnOf(mark.at), OneLine(event.As<StateEvent>()->state, 24), Paint::kBold});
    }
    PlaceLabels(names, labels, 0);
    std::string text;
    for (size_t row = names.rows(); row-- > 0;) text += Line("", names.Line(row, style_.colours));
    return text + Line("job", line.Line(0, style_.colours));
  }

  std::string ReplicaRow(size_t row) const {
    GlyphGrid grid(columns_);
    std::vector<Label> steps;
    for (const Bar& bar : layout_.bars) {
      if (bar.row != row) continue;
      DrawBar(grid, bar);
      const std::string text = OneLine(DescribeSteps(bar), kStepColumnsMax);
      if (!text.empty()) steps.push_back({ColumnOf(bar.from), text, Paint::kFaint});
    }
    for (const Mark::Kind kind :
         {Mark::Kind::kDelete, Mark::Kind::kWrite, Mark::Kind::kExit, Mark::Kind::kFault}) {
      for (const Mark& mark : layout_.marks) {
        if (mark.row == row && mark.kind == kind) DrawMark(grid, mark);
      }
    }
    bool folders = false;
    for (const WriteGroup& group : layout_.groups) {
      const size_t columns = Columns(group.folder);
      const size_t column = ColumnOf(group.from);
      if (group.row != row || columns == 0 || column + columns > columns_) continue;
      if (!grid.IsFree(1, column, columns)) continue;
      folders = true;
      grid.Put(1, column, OneLine(group.folder, columns), Paint::kCyan);
    }
    PlaceLabels(grid, steps, folders ? 2 : 1);
    std::string text;
    for (size_t line = 0; line < grid.rows(); ++line) {
      text += Line(line == 0 ? layout_.rows[row] : "", grid.Line(line, style_.colours));
    }
    return text;
  }

  void DrawBar(GlyphGrid& grid, const Bar& bar) const {
    const size_t from = ColumnOf(bar.from);
    const size_t up = ColumnOf(bar.up);
    const size_t to = ColumnOf(bar.to);
    grid.Put(0, from, Repeated("╌", to - from + 1), Paint::kFaint);
    if (up <= to && bar.up < bar.to) grid.Put(0, up, Repeated("━", to - up + 1), Paint::kGreen);
    grid.Put(0, from, std::to_string(bar.boot), Paint::kBold);
  }

  void DrawMark(GlyphGrid& grid, const Mark& mark) const {
    const size_t column = ColumnOf(mark.at);
    const Event& event = list_.events[mark.event];
    if (mark.kind == Mark::Kind::kWrite) grid.Put(0, column, "◆", Paint::kCyan);
    if (mark.kind == Mark::Kind::kDelete) grid.Put(0, column, "◇", Paint::kCyan);
    if (mark.kind == Mark::Kind::kFault) grid.Put(0, column, "▲", Paint::kRed);
    if (mark.kind != Mark::Kind::kExit) return;
    const bool fine = EndedWell(*event.As<ExitEvent>());
    grid.Put(0, column, fine ? "┤" : "✗", fine ? Paint::kGreen : Paint::kRed);
  }

  std::string Line(const std::string& name, const std::string& drawn) const {
    std::string label = OneLine(name, margin_ - 2);
    label += std::string(margin_ - Columns(label), ' ');
    const std::string line = label + drawn;
    return std::string(line.substr(0, line.find_last_not_of(' ') + 1)) + "\n";
  }

  static std::string Repeated(std::string_view glyph, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += glyph;
    return text;
  }

  const EventList& list_;
  const TimelineStyle& style_;
  size_t margin_ = 7;
  size_t plot_ = 0;
  size_t columns_ = 0;
  TimelineLayout layout_;
};

std::string After(const EventList& list, const Event& event) {
  return HumanDuration(event.time - list.events.front().time);
}

std::string HighlightLines(const EventList& list, const TimelineStyle& style) {
  std::string text;
  size_t shown = 0;
  size_t left_out = 0;
  const size_t columns = static_cast<size_t>(std::max(style.width, 40));
  for (const Event& event : list.events) {
    if (!IsHighlight(event)) continue;
    if (++shown > kHighlightsMax) {
      ++left_out;
      continue;
    }
    std::string number = std::to_string(event.number);
    number.insert(0, number.size() < 6 ? 6 - number.size() : 0, ' ');
    std::string after = After(list, event);
    after.insert(0, after.size() < 9 ? 9 - after.size() : 0, ' ');
    const bool bad = event.Is<FaultEvent>() || event.Is<ExitEvent>();
    text += number + after + "  " +
            Painted(OneLine(DescribeForTimeline(event), columns - 17),
                    bad ? Paint::kRed : Paint::kPlain, style.colours) +
            "\n";
  }
  if (left_out > 0) text += "        and " + std::to_string(left_out) + " more events\n";
  return text.empty() ? "" : " event    after\n" + text;
}

std::string VerdictText(const EventList& list, const TimelineStyle& style) {
  if (!list.judged) return "No verdict: the list ends before the run did.\n";
  const size_t wide = 400;
  std::string text = Painted(list.passed ? "PASSED" : "FAILED",
                             list.passed ? Paint::kGreen : Paint::kRed, style.colours);
  if (!list.state.empty()) text += "  the job is " + OneLine(list.state, wide);
  text += "\n";
  if (!list.error.empty()) text += "  " + OneLine(list.error, wide) + "\n";
  size_t held = 0;
  for (const Assertion& one : list.assertions) {
    held += one.passed ? 1 : 0;
    if (one.passed) continue;
    text += "  " + Painted("BROKEN", Paint::kRed, style.colours) + "  " +
            OneLine(one.name + ": expected " + one.expected + ", found " + one.found, wide) + "\n";
  }
  text += "  assertions that hold: " + std::to_string(held) + " of " +
          std::to_string(list.assertions.size()) + "\n";
  if (list.passed && held < list.assertions.size()) {
    text += "  This scenario is meant to show a bug, and shows it.\n";
  }
  if (!list.why_not.empty()) text += "  " + OneLine(list.why_not, wide) + "\n";
  return list.replay.empty() ? text : text + "  again: " + OneLine(list.replay, wide) + "\n";
}

}  // namespace

std::string TimelineText(const EventList& list, const TimelineStyle& style) {
  const size_t columns = static_cast<size_t>(std::max(style.width, 40));
  std::string text = OneLine(list.file, columns) + "\n";
  if (!list.description.empty()) text += OneLine(list.description, 4000) + "\n";
  text += "seed " + std::to_string(list.seed) + ", " + OneLine(list.semantics, columns) +
          " semantics, " + std::to_string(list.events.size()) + " events from left to right\n\n";
  if (!list.events.empty()) {
    text += Drawing(list, style).Text() + "\n";
    text +=
        "  1 boot   ╌ starting   ━ up   ◆ written   ◇ deleted\n"
        "  ▲ fault   ✗ killed or failed   ┤ ended well\n\n";
    text += HighlightLines(list, style) + "\n";
  }
  return text + VerdictText(list, style);
}

}  // namespace caip::harness
