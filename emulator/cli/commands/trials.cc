// `caip jobs trials JOB [--watch] [--plot FILE] [--format FORMAT]`: a study, once or repeatedly.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/resource_text.h"
#include "report/study_plot.h"
#include "report/study_table.h"

namespace caip::cli {
namespace {

constexpr int kPollIntervalMs = 500;

struct StudyState {
  Json answer;
  report::StudyView study;
  Instant now{};
  bool over = false;
};

Result<StudyState> FetchState(client::Connection& connection, const std::string& project,
                              const std::string& job) {
  const std::string target = "/emulator/v1/projects/" + PercentEncoded(project) + "/jobs/" +
                             PercentEncoded(job) + "/trials";
  StudyState state;
  ASSIGN_OR_RETURN(state.answer, client::CallService(connection, {.target = target}, project));
  ASSIGN_OR_RETURN(state.study, report::ReadStudy(state.answer));
  state.now = ParseRfc3339(StringOr(state.answer, "now")).value_or(Instant{});
  const Json* shown = Member(state.answer, "job");
  state.over = shown && Member(*shown, "endTime") != nullptr;
  return state;
}

// Shows states of a study. On a terminal, each one replaces the one before. Elsewhere, each trial
// is printed when it ends.
class Screen {
 public:
  explicit Screen(const Io& io) : io_(io) {}
  void Show(const StudyState& state) {
    if (io_.out_is_terminal) return Draw(state);
    for (const report::TrialView& trial : state.study.trials) {
      if (trial.end_time && printed_.insert(trial.id).second)
        io_.out(report::TrialLine(state.study, trial));
    }
    if (state.over) io_.out(report::StudyTable(state.study, state.now));
  }

 private:
  // Overwrites the last state line by line, because many terminals keep a cleared screen in their
  // history. If the window's size has changed, the position of those lines is unknown, and
  // everything is drawn again at the top. Wrapping is off, because a character may need more
  // columns than are counted for it.
  void Draw(const StudyState& state) {
    const report::TerminalSize size = report::TerminalSizeOf(STDOUT_FILENO);
    std::string text = "\x1b[?7l";
    if (lines_ > 0) text += size == size_ ? "\x1b[" + std::to_string(lines_) + "A\r" : "\x1b[H";
    lines_ = 0;
    for (const std::string& line : Split(report::StudyScreen(state.study, state.now, size), '\n')) {
      if (line.empty()) continue;  // the text ends with a line break
      text += "\x1b[K" + TerminalText(line, Controls::kNone) + "\n";
      ++lines_;
    }
    io_.out(Drawing(text + "\x1b[J\x1b[?7h"));
    size_ = size;
  }

  const Io& io_;
  size_t lines_ = 0;
  report::TerminalSize size_;
  std::set<std::string> printed_;
};

Result<StudyState> WatchUntilEnd(client::Connection& connection, const TrialsCommand& command,
                                 const std::string& project,
                                 const std::function<void(const StudyState&)>& show) {
  app::InterruptGuard guard;
  while (true) {
    ASSIGN_OR_RETURN(StudyState state, FetchState(connection, project, command.job));
    show(state);
    if (state.over || guard.interrupted()) return state;
    struct pollfd wait {
      guard.descriptor(), POLLIN, 0
    };
    ::poll(&wait, 1, kPollIntervalMs);
  }
}

// Prints the last state in the requested format. A table that was watched is on the screen already.
Status PrintState(const StudyState& state, const TrialsCommand& command, bool as_table,
                  const Io& io) {
  if (!as_table) {
    ASSIGN_OR_RETURN(const std::string text, FormatResource(state.answer, *command.gcloud.format));
    io.out(text);
  } else if (!command.watch && !command.plot) {
    io.out(report::StudyTable(state.study, state.now));
  }
  return Ok{};
}

Status Trials(const TrialsCommand& command, const Surroundings& world) {
  const std::string format = command.gcloud.format.value_or("table");
  const bool as_table = format == "table";
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  Screen screen(world.io);
  const auto show = [&](const StudyState& state) {
    if (as_table) screen.Show(state);
  };
  StudyState state;
  if (command.watch) {
    ASSIGN_OR_RETURN(state, WatchUntilEnd(*connection, command, project, show));
  } else {
    ASSIGN_OR_RETURN(state, FetchState(*connection, project, command.job));
  }
  RETURN_IF_ERROR(PrintState(state, command, as_table, world.io));
  if (!command.plot) return Ok{};
  const bool is_html = !command.plot->ends_with(".svg");
  RETURN_IF_ERROR(WriteFile(
      *command.plot, is_html ? report::StudyPage(state.study) : report::StudyPicture(state.study)));
  world.io.err("The plot of the study is in " + *command.plot + ".\n");
  return Ok{};
}

}  // namespace

int RunTrials(const TrialsCommand& command, const Surroundings& world) {
  const Status done = Trials(command, world);
  return done.ok() ? static_cast<int>(kExitSuccess) : Fail(world.io, "jobs.trials", done.error());
}

}  // namespace caip::cli
