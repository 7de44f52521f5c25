// `jobs submit training`: prepares the job, sends it, and prints the result.

#include "base/json.h"
#include "client/connection.h"
#include "client/job_preparation.h"
#include "client/packaging.h"
#include "client/yaml_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/live_line.h"
#include "emulator/cli/print/missing_module.h"
#include "emulator/cli/print/own_paths.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

/// One run of the command. Each step needs the result of the step before it.
class Submission {
 public:
  Submission(const SubmitCommand& command, const Surroundings& world)
      : command_(command), world_(world) {}

  int Run() {
    // Signals only set a flag, so that a command that ends before it sends the job leaves no files.
    const app::InterruptGuard guard;
    if (command_.async) Warn(errors::AsyncDeprecated());
    auto prepared = Prepare();
    if (guard.interrupted()) return EndEarly();
    if (!prepared.ok()) return Complain(prepared.error().message);
    job_ = *std::move(prepared);
    if (command_.validate_only) return Check();
    if (command_.dry_run) return Print(PrettyJson(job_.job) + "\n", kExitSuccess);
    return Send(guard);
  }

 private:
  // The client's part. It uploads nothing, and writes only the build cache.
  Result<client::PreparedJob> Prepare() {
    client::SubmitRequest request = command_.request;
    request.gcloud = command_.gcloud;
    request.package_cache = app::StateDirectory(command_.emulator) / "sdists";
    const auto live = LiveLine(world_.io);
    const bool builds = live && request.package_path.has_value();
    if (builds) live("Building the package " + *request.package_path + " ...");
    const app::StopOnInterrupt interrupt;
    client::PreparationOptions options;
    options.read_only_cache = command_.dry_run || command_.validate_only;
    options.stop = interrupt.token();
    options.warn = [&](const std::string& text) {
      if (builds) live("");
      Warn(text);
    };
    auto prepared = client::PrepareJob(request, options);
    if (builds) live("");
    return prepared;
  }

  int Check() {
    const auto connected = world_.connect(command_.emulator, app::Lifetime::kBriefly);
    if (!connected.ok()) return Complain(connected.error().message, ExitCodeFor(connected.error()));
    const Status fits = client::CheckJob(**connected, job_);
    if (!fits.ok()) return Complain(fits.error().message);
    Say(errors::JobFits(command_.request.flags.job));
    return command_.dry_run ? Print(PrettyJson(job_.job) + "\n", kExitSuccess) : kExitSuccess;
  }

  int Send(const app::InterruptGuard& guard) {
    auto connected =
        world_.connect(command_.emulator, command_.stream_logs ? app::Lifetime::kThisCommand
                                                               : app::Lifetime::kBackground);
    if (guard.interrupted()) return EndEarly();
    if (!connected.ok()) return Complain(connected.error().message, ExitCodeFor(connected.error()));
    client::Connection& connection = **connected;
    const Status staged =
        client::StageFiles(connection, job_, command_.emulator.Has("create_buckets"));
    if (guard.interrupted()) return EndEarly();
    if (!staged.ok()) return Complain(staged.error().message);
    const Result<Json> created = client::CreateJob(connection, job_);
    if (!created.ok()) return Complain(created.error().message);
    const std::string job = StringOr(*created, "jobId", command_.request.flags.job);
    KeepSource();
    Say(errors::Submitted(job));
    if (command_.stream_logs) return FollowToTheEnd(connection, job);
    Say(errors::FollowUp(job));
    return PrintJob(*created, kExitSuccess);
  }

  // A failure costs only the user's paths in tracebacks.
  void KeepSource() {
    const Path state = app::StateDirectory(command_.emulator);
    const Json* input = Member(job_.job, "trainingInput");
    const Json* uris = input ? Member(*input, "packageUris") : nullptr;
    const std::optional<std::string>& folder = command_.request.package_path;
    if (!folder || !uris || !uris->is_array()) return;
    static_cast<void>(KeepPackageSource(state, uris->get<std::vector<std::string>>(),
                                        client::ParentOfPackage(folder)));
    own_paths_ = OwnPaths(state);
  }

  int FollowToTheEnd(client::Connection& connection, const std::string& job) {
    const FollowOutcome outcome =
        world_.follow(connection, {job_.project, job, "", false, own_paths_}, world_.io);
    using End = FollowOutcome::End;
    if (outcome.end == End::kStopped) {
      Say(errors::EmulatorStopped(job));
      return kExitFailure;
    }
    if (outcome.end == End::kInterrupted) Say(errors::Interrupted(outcome.signal));
    if (outcome.end == End::kFailed) Say(errors::PollingFailed(outcome.failure));
    if (outcome.end != End::kJobFinished) Say(errors::FollowUp(job));
    const Result<Json> ended = client::CallService(
        connection, {.target = client::JobsPath(job_.project, job)}, job_.project);
    if (!ended.ok()) return Complain(ended.error().message);
    Say(MissingModuleHint(*ended));
    const bool succeeded = StringOr(*ended, "state") == "SUCCEEDED";
    return PrintJob(*ended, succeeded ? kExitSuccess : kExitFailure);
  }

  // Prints jobId, state and times; with --format the whole Job.
  int PrintJob(const Json& job, int exit_code) {
    if (command_.gcloud.format) {
      const Result<std::string> text = FormatResource(job, *command_.gcloud.format);
      return text.ok() ? Print(*text, exit_code) : Complain(text.error().message);
    }
    Json shown = Json::object();
    for (const char* name : {"jobId", "state"}) {
      if (const Json* value = Member(job, name)) shown[name] = *value;
    }
    for (const char* name : {"startTime", "endTime"}) {
      if (const Json* value = Member(job, name)) {
        shown[name] = client::LocalDate(value->get<std::string>());
      }
    }
    return Print(client::YamlText(shown), exit_code);
  }

  int Print(const std::string& text, int exit_code) const {
    if (command_.gcloud.user_output_enabled) world_.io.out(text);
    return exit_code;
  }

  void Say(const std::string& text) const {
    if (command_.gcloud.user_output_enabled && !text.empty()) world_.io.err(text);
  }

  void Warn(const std::string& text) const {
    if (IsShown(command_.gcloud, Message::kWarning) && !text.empty()) world_.io.err(text);
  }

  int EndEarly() const {
    Say(errors::InterruptedEarly());
    return kExitInterrupted;
  }

  int Complain(const std::string& text, int exit_code = kExitFailure) const {
    if (IsShown(command_.gcloud, Message::kError)) {
      world_.io.err("ERROR: (caip.jobs.submit.training) " + text + "\n");
    }
    return exit_code;
  }

  const SubmitCommand& command_;
  const Surroundings& world_;
  client::PreparedJob job_;
  OwnPaths own_paths_;
};

}  // namespace

int RunSubmit(const SubmitCommand& command, const Surroundings& world) {
  return Submission(command, world).Run();
}

}  // namespace caip::cli
