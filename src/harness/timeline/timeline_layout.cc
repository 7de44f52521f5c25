#include "harness/timeline/timeline_layout.h"

#include <algorithm>
#include <map>

#include "harness/expectations/counts.h"
#include "run/replica_outcome.h"

namespace caip::harness {
namespace {

constexpr char kService[] = "service";
constexpr double kLeastGap = 1e-3;

bool IsWriteTimelineLayout(const Happening& h) {
  return h.op == "create" || h.op == "overwrite" || h.op == "copy" || h.op == "move" ||
         h.op == "rename" || h.op == "write";
}

Mark::Kind KindOf(const Happening& h) {
  switch (h.kind) {
    case Happening::Kind::kState:
      return Mark::Kind::kState;
    case Happening::Kind::kStart:
      return Mark::Kind::kStart;
    case Happening::Kind::kLive:
      return Mark::Kind::kLive;
    case Happening::Kind::kExit:
      return Mark::Kind::kExit;
    case Happening::Kind::kFault:
      return Mark::Kind::kFault;
    case Happening::Kind::kStep:
      return Mark::Kind::kStep;
    case Happening::Kind::kStorage:
      if (h.op == "delete") return Mark::Kind::kDelete;
      return IsWriteTimelineLayout(h) && !h.failed ? Mark::Kind::kWrite : Mark::Kind::kRead;
    case Happening::Kind::kLog:
    case Happening::Kind::kMetric:
    case Happening::Kind::kPrepare:
    case Happening::Kind::kApi:
      return Mark::Kind::kLine;
  }
  return Mark::Kind::kLine;
}

// "ckpt-10" of "job/out/ckpt-10/weights".
std::string FolderOfTimelineLayout(const std::string& object) {
  const size_t end = object.rfind('/');
  if (end == std::string::npos || end == 0) return "";
  const size_t begin = object.rfind('/', end - 1);
  return object.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1));
}

/// Walks the list once for a gap of the small marks; those that count keep theirs.
class Walk {
 public:
  Walk(const EventList& list, double gap) : list_(list), gap_(gap) {
    layout_.rows.emplace_back("job");
    rows_[""] = rows_[kService] = 0;
    next_.push_back(0);
  }

  TimelineLayout Go() {
    for (size_t i = 0; i < list_.happenings.size(); ++i) Place(i);
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
    const Happening& h = list_.happenings[event];
    const Mark mark{KindOf(h), RowOf(h.replica), event, std::max(cursor_, next_[RowOf(h.replica)])};
    cursor_ = mark.at;
    layout_.marks.push_back(mark);
    next_[mark.row] = mark.at + GapBehind(mark, h);
  }

  double GapBehind(const Mark& mark, const Happening& h) {
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
        if (Bar* bar = Find(mark, h)) CountStep(*bar, h.step);
        return gap_;
      case Mark::Kind::kWrite:
        return GapBehindWrite(mark, h);
      case Mark::Kind::kState:
      case Mark::Kind::kFault:
        return 2;
      default:
        return gap_ / 4;
    }
  }

  double GapBehindWrite(const Mark& mark, const Happening& h) {
    const std::string folder = FolderOfTimelineLayout(h.object);
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

  Bar* Find(const Mark& mark, const Happening& h) {
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
  std::vector<double> next_;  // by row: where the next mark may stand
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

std::string Ending(const Happening& h) {
  if (!h.detail.empty()) return h.detail;
  if (h.signal == 0) return "exit code " + std::to_string(h.exit_code);
  const std::string name(run::SignalName(h.signal));
  return "signal " + std::to_string(h.signal) + (name.empty() ? "" : " (" + name + ")");
}

std::string Whose(const Happening& h) {
  return h.replica.empty() ? "job" : h.replica + " boot " + std::to_string(h.boot);
}

std::string TellStorage(const Happening& h) {
  std::string text = Whose(h) + " " + h.op + " " + h.object;
  if (!h.detail.empty()) text += " from " + h.detail;
  if (h.bytes > 0) text += ", " + std::to_string(h.bytes) + " bytes";
  return text + (h.failed ? ", failed" : "");
}

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
  std::string text = (bar.steps.size() == 1 ? "step " : "steps ") + Runs(bar.steps);
  for (size_t at = text.find(".."); at != std::string::npos; at = text.find("..")) {
    text.replace(at, 2, "-");
  }
  if (bar.again == 0) return text;
  if (bar.again == static_cast<int64_t>(bar.steps.size())) return text + " again";
  return text + ", " + std::to_string(bar.again) + " again";
}

std::string Tell(const Happening& h) {
  switch (h.kind) {
    case Happening::Kind::kState:
      return "job is " + h.text;
    case Happening::Kind::kStart:
      return Whose(h) + " starts" + (h.fresh_disk ? "" : ", with its old disk");
    case Happening::Kind::kLive:
      return Whose(h) + " is up";
    case Happening::Kind::kExit:
      return Whose(h) + " ends: " + Ending(h);
    case Happening::Kind::kStorage:
      return TellStorage(h);
    case Happening::Kind::kLog:
      return (h.replica == kService ? kService : Whose(h)) + ": " + h.text;
    case Happening::Kind::kStep:
      return Whose(h) + " step " + std::to_string(h.step) + " " + CompactJson(h.record);
    case Happening::Kind::kMetric:
      return Whose(h) + " metric " + h.text + " at step " + std::to_string(h.step);
    case Happening::Kind::kPrepare:
    case Happening::Kind::kApi:
      return Describe(h);
    case Happening::Kind::kFault:
      return "fault " + h.text + ": " + h.detail;
  }
  return "";
}

bool IsMoment(const Happening& h) {
  if (h.kind == Happening::Kind::kFault || h.kind == Happening::Kind::kState) return true;
  if (h.kind == Happening::Kind::kExit) {
    return h.exit_code != 0 || h.signal != 0 || !h.detail.empty();
  }
  return h.kind == Happening::Kind::kLog && h.replica == kService && h.detail != "INFO" &&
         h.detail != "DEBUG";
}

}  // namespace caip::harness
