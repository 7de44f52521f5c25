// `caip migrate`: reads a job of AI Platform Training, and prints the job of Vertex AI that means
// the same (docs/migrating.md).

#include "base/json.h"
#include "client/config_file.h"
#include "client/errors.h"
#include "client/file_hints.h"
#include "client/job_preparation.h"
#include "client/yaml_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "migration/migration.h"
#include "migration/report.h"
#include "ml/schema/job_json.h"

namespace caip::cli {
namespace {

constexpr char kMigrateName[] = "migrate";
constexpr char kMigrateInput[] = "/dev/stdin";
constexpr char kOwnProgram[] = "caip";

/// One run of the command.
class Migration {
 public:
  Migration(const MigrateCommand& command, const Surroundings& world)
      : command_(command), world_(world) {}

  int Run() {
    const Status done = Migrate();
    return done.ok() ? static_cast<int>(kExitSuccess)
                     : Fail(world_.io, kMigrateName, done.error().message,
                            is_usage_ ? kExitUsage : kExitFailure);
  }

 private:
  Status Migrate() {
    migration::MigrationOptions options{.executor_image = command_.executor_image};
    ASSIGN_OR_RETURN(const ml::Job job, command_.file ? ReadJobFile() : ReadWords());
    if (prepared_ && !command_.stage) options.unstaged = Unstaged(*prepared_);
    ASSIGN_OR_RETURN(const migration::MigratedJob migrated, migration::Migrate(job, options));
    std::string text = client::YamlText(migrated.file);
    if (command_.as_command) {
      ASSIGN_OR_RETURN(text, migration::CreateCommand(migrated, kOwnProgram, client::YamlText));
    }
    if (command_.stage) RETURN_IF_ERROR(Stage());
    world_.io.out(text);
    world_.io.err(errors::MigrationReport(
        command_.as_command ? "" : migration::CreateLine(migrated, kOwnProgram, "FILE"),
        migration::DifferencesText(migrated)));
    return Ok{};
  }

  Result<ml::Job> ReadJobFile() const {
    const std::string path = *command_.file == "-" ? kMigrateInput : *command_.file;
    ASSIGN_OR_RETURN(const client::ConfigFile file, client::ConfigFile::Load(path));
    Result<ml::Job> job = ml::ParseJob(file.tree());
    if (job.ok()) return job;
    return client::errors::Reworded(
        job.error(), job.error().message + file.Hints(client::FindFileHints(file.tree())));
  }

  Result<ml::Job> ReadWords() {
    Result<SubmitCommand> submit = ReadSubmitLine(command_.words);
    is_usage_ = !submit.ok();
    if (!submit.ok()) return submit.error();
    submit_ = *std::move(submit);
    client::SubmitRequest request = submit_.request;
    request.gcloud = submit_.gcloud;
    request.package_cache = app::StateDirectory(submit_.emulator) / "sdists";
    const app::StopOnInterrupt interrupt;
    client::PreparationOptions options;
    options.stop = interrupt.token();
    options.warn = [&](const std::string& text) {
      if (!text.empty()) world_.io.err(text);
    };
    ASSIGN_OR_RETURN(prepared_, client::PrepareJob(request, options));
    return ml::ParseJob(prepared_->job);
  }

  static std::vector<migration::UnstagedPackage> Unstaged(const client::PreparedJob& prepared) {
    std::vector<migration::UnstagedPackage> packages;
    for (const client::StagedFile& file : prepared.staged) {
      packages.push_back({file.Uri(), file.file.filename().string()});
    }
    return packages;
  }

  Status Stage() const {
    ASSIGN_OR_RETURN(const auto connection,
                     world_.connect(submit_.emulator, app::Lifetime::kBackground));
    return client::StageFiles(*connection, *prepared_, submit_.emulator.Has("create_buckets"));
  }

  const MigrateCommand& command_;
  const Surroundings& world_;
  SubmitCommand submit_;  // of the words
  std::optional<client::PreparedJob> prepared_;
  bool is_usage_ = false;  // the words are wrong
};

}  // namespace

int RunMigrate(const MigrateCommand& command, const Surroundings& world) {
  return Migration(command, world).Run();
}

}  // namespace caip::cli
