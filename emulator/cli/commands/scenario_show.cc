// `caip scenario show`.

#include <unistd.h>

#include <algorithm>

#include "emulator/cli/commands/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/output.h"
#include "harness/timeline/timeline.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

constexpr size_t kEventBytesMax = 256u << 20;
constexpr int64_t kWidth = 100;
constexpr int64_t kWidthMax = 1000;

int64_t TerminalWidth(const Io& io) {
  return io.out_is_terminal ? static_cast<int64_t>(report::TerminalSizeOf(STDOUT_FILENO).columns)
                            : kWidth;
}

}  // namespace

int RunScenarioShow(const ScenarioShowCommand& command, const Surroundings& world) {
  const std::string name = command.events == "-" ? "/dev/stdin" : command.events;
  const auto text = ReadFileUpTo(name, kEventBytesMax);
  if (!text.ok()) return Fail(world.io, "scenario.show", text.error().message, kExitUsage);
  const auto list = harness::ReadEventList(*text, name);
  if (!list.ok()) return Fail(world.io, "scenario.show", list.error().message, kExitUsage);
  if (!command.html) {
    const int64_t width = command.width.value_or(TerminalWidth(world.io));
    const harness::TimelineStyle style{static_cast<int>(std::min(width, kWidthMax)),
                                       world.io.out_is_terminal};
    world.io.out(harness::TimelineText(*list, style));
    return kExitSuccess;
  }
  const std::string page = harness::TimelineHtml(*list);
  if (*command.html == "-") {
    world.io.out(page);
    return kExitSuccess;
  }
  const Status written = WriteFile(*command.html, page);
  if (!written.ok()) return Fail(world.io, "scenario.show", written.error().message, kExitFailure);
  return kExitSuccess;
}

}  // namespace caip::cli
