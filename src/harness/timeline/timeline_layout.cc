#include "harness/timeline/timeline_layout.h"

#include <algorithm>
#include <map>

#include "harness/expectations/counts.h"
#include "run/replica_outcome.h"

namespace caip::harness {
namespace {

constexpr char kService[] = "service";
constexpr double kLeastGap = 1e-3;

bool ChangesObject(const StorageEvent& operation) {
  const std::string& op = operation.op;
  return op == "create" || op == "overwrite" || op == "copy" || op == "move" || op == "rename" ||
         op == "write" || op == "truncate" || op == "link" || op == "symlink" || op == "mkdir";
}

struct MarkKindOf {
  Mark::Kind operator()(const StateEvent&) const { return Mark::Kind::kState; }
  Mark::Kind operator()(const StartEvent&) const { return Mark::Kind::kStart; }
  Mark::Kind operator()(const LiveEvent&) const { return Mark::Kind::kLive; }
  Mark::Kind operator()(const ExitEvent&) const { return Mark::Kind::kExit; }
  Mark::Kind operator()(const FaultEvent&) const { return Mark::Kind::kFault; }
  Mark::Kind operator()(const StepEvent&) const { return Mark::Kind::kStep; }
  Mark::Kind operator()(const StorageEvent& operation) const {
    if (operation.op == "delete") return Mark::Kind::kDelete;
    return ChangesObject(operation) && !operation.failed ? Mark::Kind::kWrite : Mark::Kind::kRead;
  }
  template <typename Other>
  Mark::Kind operator()(const Other&) const {
    return Mark::Kind::kLine;
  }
};

// "ckpt-10" for "job/out/ckpt-10/weights".
std::string FolderNameOf(const std::string& object) {
  const size_t end = object.rfind('/');
  if (end == std::string::npos || end == 0) return "";
  const size_t begin = object.rfind('/', end - 1);
  return object.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1));
}

/// Walks over the list once. Small marks have the given gap. Important marks have gaps of their
/// own.
class Walk {
 public:
  Walk(const EventList& list, double gap) : list_(list), gap_(gap) {
    layout_.rows.emplace_back("job");
    rows_[""] = rows_[kService] = 0;
    next_.push_back(0);
  }

  TimelineLayout Go() {
    for (size_t i = 0; i < list_.events.size(); ++i) Place(i);
    for (Bar& bar : layout_.bars) {
      if (!bar.ended) bar.to = cursor_;
      if (!up_.contains({bar.row, bar.boot})) bar.up = bar.to;
    }
    layout_.width = *std::max_element(next_.begin(), next_.end());
    return std::move(layout_);
  }

 private:
  size_t RowOf(const std::string& replica) {
    const auto [row, fresh] = rows_.try_emplace(replica, layout_.rows.size());
    if (fresh) {
      layout_.rows.push_back(replica);
      next_.push_back(0);
    }
    return row->second;
  }

  void Place(size_t event) {
    const Event& h = list_.events[event];
    const Mark mark{std::visit(MarkKindOf{}, h.body), RowOf(h.replica), event,
                    std::max(cursor_, next_[RowOf(h.replica)])};
    cursor_ = mark.at;
    layout_.marks.push_back(mark);
    next_[mark.row] = mark.at + GapAfter(mark, h);
  }

  double GapAfter(const Mark& mark, const Event& h) {
    switch (mark.kind) {
      case Mark::Kind::kStart:
        layout_.bars.push_back({mark.row, h.boot, mark.at, mark.at, mark.at, false, {}, 0});
        bar_of_[{mark.row, h.boot}] = layout_.bars.size() - 1;
        group_of_.erase(mark.row);
        return 3;
      case Mark::Kind::kLive:
        up_.insert({mark.row, h.boot});
        if (Bar* bar = Find(mark, h)) bar->up = mark.at;
        return 1;
      case Mark::Kind::kExit:
        if (Bar* bar = Find(mark, h)) {
          bar->to = mark.at;
          bar->ended = true;
        }
        return 2;
      case Mark::Kind::kStep:
        if (Bar* bar = Find(mark, h)) CountStep(*bar, h.As<StepEvent>()->step);
        return gap_;
      case Mark::Kind::kWrite:
        return GapAfterWrite(mark, h);
      case Mark::Kind::kState:
      case Mark::Kind::kFault:
        return 2;
      default:
        return gap_ / 4;
    }
  }

  double GapAfterWrite(const Mark& mark, const Event& h) {
    const std::string folder = FolderNameOf(h.As<StorageEvent>()->object);
    const auto open = group_of_.find(mark.row);
    if (open != group_of_.end() && layout_.groups[open->second].folder == folder) {
      WriteGroup& group = layout_.groups[open->second];
      group.to = mark.at;
      ++group.objects;
      return gap_;
    }
    group_of_[mark.row] = layout_.groups.size();
    layout_.groups.push_back({mark.row, folder, 1, mark.at, mark.at});
    return 1;
  }

  Bar* Find(const Mark& mark, const Event& h) {
    const auto found = bar_of_.find({mark.row, h.boot});
    return found == bar_of_.end() ? nullptr : &layout_.bars[found->second];
  }

  void CountStep(Bar& bar, int64_t step) {
    if (!bar.steps.insert(step).second) return;
    const auto [first, fresh] = first_boot_.try_emplace({bar.row, step}, bar.boot);
    if (!fresh && first->second != bar.boot) ++bar.again;
  }

  const EventList& list_;
  double gap_;
  TimelineLayout layout_;
  double cursor_ = 0;
  std::map<std::string, size_t> rows_;
  std::vector<double> next_;  // by row: the position of the next mark
  std::map<std::pair<size_t, int>, size_t> bar_of_;
  std::set<std::pair<size_t, int>> up_;
  std::map<size_t, size_t> group_of_;
  std::map<std::pair<size_t, int64_t>, int> first_boot_;
};

void Shrink(TimelineLayout& layout, double factor) {
  for (Mark& mark : layout.marks) mark.at *= factor;
  for (Bar& bar : layout.bars) {
    bar.from *= factor;
    bar.up *= factor;
    bar.to *= factor;
  }
  for (WriteGroup& group : layout.groups) {
    group.from *= factor;
    group.to *= factor;
  }
  layout.width *= factor;
}

std::string DescribeEnd(const ExitEvent& exit) {
  if (!exit.lost.empty()) return exit.lost;
  if (exit.signal == 0) return "exit code " + std::to_string(exit.exit_code);
  const std::string name(run::SignalName(exit.signal));
  return "signal " + std::to_string(exit.signal) + (name.empty() ? "" : " (" + name + ")");
}

/// Describes an event in a sentence.
struct TimelineDescriber {
  const Event& event;
  const std::string who =
      event.replica.empty() ? "job" : event.replica + " boot " + std::to_string(event.boot);

  std::string operator()(const StateEvent& e) const { return "job is " + e.state; }
  std::string operator()(const StartEvent& e) const {
    return who + " starts" + (e.fresh_disk ? "" : ", with its old disk");
  }
  std::string operator()(const LiveEvent&) const { return who + " is up"; }
  std::string operator()(const ExitEvent& e) const { return who + " ends: " + DescribeEnd(e); }
  std::string operator()(const StorageEvent& e) const {
    std::string text = who + " " + e.op + " " + e.object;
    if (!e.from.empty()) text += " from " + e.from;
    if (e.bytes > 0) text += ", " + std::to_string(e.bytes) + " bytes";
    return text + (e.failed ? ", failed" : "");
  }
  std::string operator()(const LogEvent& e) const {
    return (event.replica == kService ? kService : who) + ": " + e.message;
  }
  std::string operator()(const StepEvent& e) const {
    return who + " step " + std::to_string(e.step) + " " + CompactJson(e.record);
  }
  std::string operator()(const MetricEvent& e) const {
    return who + " metric " + e.tag + " at step " + std::to_string(e.step);
  }
  std::string operator()(const FaultEvent& e) const { return "fault " + e.fault + ": " + e.when; }
  template <typename Other>
  std::string operator()(const Other&) const {
    return Describe(event);
  }
};

}  // namespace

TimelineLayout LayOut(const EventList& list, double width) {
  double gap = 1;
  TimelineLayout layout = Walk(list, gap).Go();
  while (layout.width > width && gap > kLeastGap) {
    gap /= std::max(2.0, layout.width / width / 2);
    layout = Walk(list, gap).Go();
  }
  if (layout.width > width) Shrink(layout, width / layout.width);
  return layout;
}

std::string DescribeSteps(const Bar& bar) {
  if (bar.steps.empty()) return "";
  std::string text = (bar.steps.size() == 1 ? "step " : "steps ") + RangesText(bar.steps);
  for (size_t at = text.find(".."); at != std::string::npos; at = text.find("..")) {
    text.replace(at, 2, "-");
  }
  if (bar.again == 0) return text;
  if (bar.again == static_cast<int64_t>(bar.steps.size())) return text + " again";
  return text + ", " + std::to_string(bar.again) + " again";
}

std::string DescribeForTimeline(const Event& event) {
  return std::visit(TimelineDescriber{event}, event.body);
}

bool IsHighlight(const Event& event) {
  if (event.Is<FaultEvent>() || event.Is<StateEvent>()) return true;
  if (const auto* exit = event.As<ExitEvent>()) return !EndedWell(*exit);
  const auto* log = event.As<LogEvent>();
  return log && event.replica == kService && log->severity != "INFO" && log->severity != "DEBUG";
}

}  // namespace caip::harness
