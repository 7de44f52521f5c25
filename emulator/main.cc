// caip: see README.md.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/app/connect.h"
#include "emulator/cli/arguments.h"
#include "emulator/cli/follow.h"

namespace {

using caip::cli::Surroundings;

void Write(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) return;  // nobody listens any more
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// One overload a command; std::visit picks it.
struct Runner {
  const Surroundings& world;
  int operator()(const caip::cli::SubmitCommand& c) const { return RunSubmit(c, world); }
  int operator()(const caip::cli::DescribeCommand& c) const { return RunDescribe(c, world); }
  int operator()(const caip::cli::ListCommand& c) const { return RunList(c, world); }
  int operator()(const caip::cli::CancelCommand& c) const { return RunCancel(c, world); }
  int operator()(const caip::cli::UpdateCommand& c) const { return RunUpdate(c, world); }
  int operator()(const caip::cli::StreamLogsCommand& c) const { return RunStreamLogs(c, world); }
  int operator()(const caip::cli::LocalTrainCommand& c) const { return RunLocalTrain(c, world); }
  int operator()(const caip::cli::ServeCommand& c) const { return RunServe(c, world); }
  int operator()(const caip::cli::StopCommand& c) const { return RunStop(c, world); }
  int operator()(const caip::cli::EnvCommand& c) const { return RunEnv(c, world); }
  int operator()(const caip::cli::DoctorCommand& c) const { return RunDoctor(c, world); }
  int operator()(const caip::cli::VersionCommand& c) const { return RunVersion(c, world); }
  int operator()(const caip::cli::BucketsCreateCommand& c) const {
    return RunBucketsCreate(c, world);
  }
  int operator()(const caip::cli::BucketsListCommand& c) const { return RunBucketsList(c, world); }
  int operator()(const caip::cli::PrintCommand& c) const { return RunPrint(c, world); }
};

}  // namespace

int main(int argc, char** argv) {
  const caip::cli::Io io{[](std::string_view text) { Write(STDOUT_FILENO, text); },
                         [](std::string_view text) { Write(STDERR_FILENO, text); },
                         ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1};
  const Surroundings world{io, caip::app::ConnectToEmulator, caip::cli::FollowJob};
  const auto command = caip::cli::ParseArguments(std::vector<std::string>(argv + 1, argv + argc));
  return std::visit(Runner{world}, command);
}
