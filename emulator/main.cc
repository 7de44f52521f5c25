// caip: see README.md.

#include <signal.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/app/attach/connect.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/conform.h"
#include "emulator/cli/commands/follow.h"
#include "emulator/cli/output.h"

// COLD modules (cmake/module.cmake) have copies of these functions that are slow. The linker keeps
// the copy of the first file, which is this one.
template class std::basic_string<char>;

namespace {

using caip::cli::Surroundings;

// One overload for each command; std::visit picks it.
struct Runner {
  const Surroundings& world;
  int operator()(const caip::cli::SubmitCommand& c) const { return Shown(c, caip::cli::RunSubmit); }
  int operator()(const caip::cli::DescribeCommand& c) const {
    return Shown(c, caip::cli::RunDescribe);
  }
  int operator()(const caip::cli::ListCommand& c) const { return Shown(c, caip::cli::RunList); }
  int operator()(const caip::cli::CancelCommand& c) const { return Shown(c, caip::cli::RunCancel); }
  int operator()(const caip::cli::DeleteCommand& c) const { return Shown(c, caip::cli::RunDelete); }
  int operator()(const caip::cli::PsCommand& c) const { return Shown(c, caip::cli::RunPs); }
  int operator()(const caip::cli::CleanCommand& c) const { return Shown(c, caip::cli::RunClean); }
  int operator()(const caip::cli::UpdateCommand& c) const { return Shown(c, caip::cli::RunUpdate); }
  int operator()(const caip::cli::StreamLogsCommand& c) const {
    return Shown(c, caip::cli::RunStreamLogs);
  }
  int operator()(const caip::cli::LogsCommand& c) const { return Shown(c, caip::cli::RunLogs); }
  int operator()(const caip::cli::ShellCommand& c) const { return Shown(c, caip::cli::RunShell); }
  int operator()(const caip::cli::TrialsCommand& c) const { return Shown(c, caip::cli::RunTrials); }
  int operator()(const caip::cli::LocalTrainCommand& c) const {
    return Shown(c, caip::cli::RunLocalTrain);
  }
  int operator()(const caip::cli::LocalPredictCommand& c) const {
    return Shown(c, caip::cli::RunLocalPredict);
  }
  int operator()(const caip::cli::ServeCommand& c) const { return RunServe(c, world); }
  int operator()(const caip::cli::StopCommand& c) const { return RunStop(c, world); }
  int operator()(const caip::cli::EnvCommand& c) const { return Shown(c, caip::cli::RunEnv); }
  int operator()(const caip::cli::DoctorCommand& c) const { return Shown(c, caip::cli::RunDoctor); }
  int operator()(const caip::cli::InitCommand& c) const { return RunInit(c, world); }
  int operator()(const caip::cli::VersionCommand& c) const { return RunVersion(c, world); }
  int operator()(const caip::cli::BucketsCreateCommand& c) const {
    return Shown(c, caip::cli::RunBucketsCreate);
  }
  int operator()(const caip::cli::BucketsListCommand& c) const {
    return Shown(c, caip::cli::RunBucketsList);
  }
  int operator()(const caip::cli::BucketsRmCommand& c) const {
    return Shown(c, caip::cli::RunBucketsRm);
  }
  int operator()(const caip::cli::LsCommand& c) const { return Shown(c, caip::cli::RunLs); }
  int operator()(const caip::cli::CpCommand& c) const { return Shown(c, caip::cli::RunCp); }
  int operator()(const caip::cli::CatCommand& c) const { return Shown(c, caip::cli::RunCat); }
  int operator()(const caip::cli::RmCommand& c) const { return Shown(c, caip::cli::RunRm); }
  int operator()(const caip::cli::ImagesListCommand& c) const {
    return Shown(c, caip::cli::RunImagesList);
  }
  int operator()(const caip::cli::ImagesImportCommand& c) const {
    return Shown(c, caip::cli::RunImagesImport);
  }
  int operator()(const caip::cli::ImagesMapCommand& c) const {
    return Shown(c, caip::cli::RunImagesMap);
  }
  int operator()(const caip::cli::ImagesRemoveCommand& c) const {
    return Shown(c, caip::cli::RunImagesRemove);
  }
  int operator()(const caip::cli::RuntimesListCommand& c) const {
    return Shown(c, caip::cli::RunRuntimesList);
  }
  int operator()(const caip::cli::RuntimesInstallCommand& c) const {
    return Shown(c, caip::cli::RunRuntimesInstall);
  }
  int operator()(const caip::cli::RuntimesRemoveCommand& c) const {
    return Shown(c, caip::cli::RunRuntimesRemove);
  }
  int operator()(const caip::cli::StateInfoCommand& c) const {
    return Shown(c, caip::cli::RunStateInfo);
  }
  int operator()(const caip::cli::StateMigrateCommand& c) const {
    return Shown(c, caip::cli::RunStateMigrate);
  }
  int operator()(const caip::cli::StateBackupCommand& c) const {
    return Shown(c, caip::cli::RunStateBackup);
  }
  int operator()(const caip::cli::StateRestoreCommand& c) const {
    return Shown(c, caip::cli::RunStateRestore);
  }
  int operator()(const caip::cli::ScenarioRunCommand& c) const { return RunScenarioRun(c, world); }
  int operator()(const caip::cli::ScenarioValidateCommand& c) const {
    return RunScenarioValidate(c, world);
  }
  int operator()(const caip::cli::ScenarioSchemaCommand& c) const {
    return RunScenarioSchema(c, world);
  }
  int operator()(const caip::cli::ScenarioShowCommand& c) const {
    return RunScenarioShow(c, world);
  }
  int operator()(const caip::cli::ExploreCommand& c) const { return RunExplore(c, world); }
  int operator()(const caip::cli::CheckCommand& c) const { return RunCheck(c, world); }
  int operator()(const caip::cli::SimulateCommand& c) const { return RunSimulate(c, world); }
  int operator()(const caip::cli::CustomJobCreateCommand& c) const {
    return Shown(c, caip::cli::RunCustomJobCreate);
  }
  int operator()(const caip::cli::TuningJobCreateCommand& c) const {
    return Shown(c, caip::cli::RunTuningJobCreate);
  }
  int operator()(const caip::cli::AiDescribeCommand& c) const {
    return Shown(c, caip::cli::RunAiDescribe);
  }
  int operator()(const caip::cli::AiListCommand& c) const { return Shown(c, caip::cli::RunAiList); }
  int operator()(const caip::cli::AiCancelCommand& c) const {
    return Shown(c, caip::cli::RunAiCancel);
  }
  int operator()(const caip::cli::AiStreamLogsCommand& c) const {
    return Shown(c, caip::cli::RunAiStreamLogs);
  }
  int operator()(const caip::cli::AiLocalRunCommand& c) const {
    return Shown(c, caip::cli::RunAiLocalRun);
  }
  int operator()(const caip::cli::MigrateCommand& c) const {
    return Shown(c, caip::cli::RunMigrate);
  }
  int operator()(const caip::cli::HelpCommand& c) const { return RunHelp(c, world); }
  int operator()(const caip::cli::ReferenceCommand& c) const { return RunReference(c, world); }
  int operator()(const caip::cli::CompleteCommand& c) const { return RunComplete(c, world); }
  int operator()(const caip::cli::PrintCommand& c) const { return RunPrint(c, world); }

 private:
  // Commands with gcloud's flags write only what those flags let through.
  template <typename Command>
  int Shown(const Command& command, int (*run)(const Command&, const Surroundings&)) const {
    const caip::cli::Io io = caip::cli::IoFor(command.gcloud, world.io);
    return run(command, Surroundings{io, world.connect, world.follow});
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails as on a full disk
  if (argc > 1 && std::string_view(argv[1]) == "conform") return caip::cli::ExecuteJudge(argv + 1);
  const caip::cli::Io io = caip::cli::StandardIo();
  caip::app::Connector connector(io.err);
  const caip::app::Connect connect = [&](const caip::app::EmulatorFlags& flags,
                                         caip::app::Lifetime lifetime) {
    return connector.Connect(flags, lifetime);
  };
  const Surroundings world{io, connect, caip::cli::FollowJob};
  const auto command = caip::cli::ParseArguments(std::vector<std::string>(argv + 1, argv + argc));
  return connector.Finish(std::visit(Runner{world}, command));
}
