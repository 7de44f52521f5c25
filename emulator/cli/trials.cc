// `caip jobs trials JOB [--watch] [--plot FILE]`: a study, now or as it goes on.

#include <poll.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/gcloud_properties.h"
#include "emulator/cli/interrupt.h"
#include "emulator/cli/service_call.h"
#include "emulator/cli/study_plot.h"
#include "emulator/cli/study_table.h"

namespace caip::cli {
namespace {

constexpr int kLookAgainMs = 500;

struct Look {
  StudyView study;
  Instant now{};
  bool over = false;
};

Result<Look> LookAt(Connection& connection, const std::string& project, const std::string& job) {
  const std::string target = "/emulator/v1/projects/" + PercentEncoded(project) + "/jobs/" +
                             PercentEncoded(job) + "/trials";
  ASSIGN_OR_RETURN(const Json answer, CallService(connection, {.target = target}, project));
  Look look;
  ASSIGN_OR_RETURN(look.study, ReadStudy(answer));
  look.now = ParseRfc3339(StringOr(answer, "now")).value_or(Instant{});
  const Json* shown = Member(answer, "job");
  look.over = shown && Member(*shown, "endTime") != nullptr;
  return look;
}

// What was written before goes, where there is a terminal; else each trial is told when it ends.
class Screen {
 public:
  explicit Screen(const Io& io) : io_(io) {}
  void Show(const Look& look) {
    if (io_.out_is_terminal) {
      std::string text = lines_ > 0 ? "\x1b[" + std::to_string(lines_) + "A\x1b[J" : "";
      const std::string table = StudyTable(look.study, look.now);
      lines_ = static_cast<size_t>(std::count(table.begin(), table.end(), '\n'));
      io_.out(text + table);
      return;
    }
    for (const TrialView& trial : look.study.trials) {
      if (trial.end_time && told_.insert(trial.id).second) io_.out(TrialLine(look.study, trial));
    }
    if (look.over) io_.out(StudyTable(look.study, look.now));
  }

 private:
  const Io& io_;
  size_t lines_ = 0;
  std::set<std::string> told_;
};

Result<Look> WatchToItsEnd(Connection& connection, const TrialsCommand& command,
                           const std::string& project, const Io& io) {
  InterruptGuard guard;
  Screen screen(io);
  while (true) {
    ASSIGN_OR_RETURN(Look look, LookAt(connection, project, command.job));
    screen.Show(look);
    if (look.over || guard.interrupted()) return look;
    struct pollfd wait {
      guard.descriptor(), POLLIN, 0
    };
    ::poll(&wait, 1, kLookAgainMs);
  }
}

Status Trials(const TrialsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, Lifetime::kBriefly));
  Look look;
  if (command.watch) {
    ASSIGN_OR_RETURN(look, WatchToItsEnd(*connection, command, project, world.io));
  } else {
    ASSIGN_OR_RETURN(look, LookAt(*connection, project, command.job));
    if (!command.plot) world.io.out(StudyTable(look.study, look.now));
  }
  if (!command.plot) return Ok{};
  const bool is_html = !command.plot->ends_with(".svg");
  RETURN_IF_ERROR(
      WriteFile(*command.plot, is_html ? StudyPage(look.study) : StudyPicture(look.study)));
  world.io.err("The study is drawn in " + *command.plot + ".\n");
  return Ok{};
}

}  // namespace

int RunTrials(const TrialsCommand& command, const Surroundings& world) {
  const Status done = Trials(command, world);
  return done.ok() ? static_cast<int>(kExitSuccess)
                   : FailJobsCommand(world.io, "trials", done.error());
}

}  // namespace caip::cli
