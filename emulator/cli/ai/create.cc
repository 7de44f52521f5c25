// `ai custom-jobs create` and `ai hp-tuning-jobs create`: prepare the job, send it, and print the
// result.

#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"
#include "client/vertex/preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/ai/ai_texts.h"
#include "emulator/cli/ai/image_mapping.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;
using vertex::JobKind;

Result<std::string> ReadStandardInput() {
  std::string text;
  char bytes[1 << 16];
  for (ssize_t size = ::read(STDIN_FILENO, bytes, sizeof bytes); size > 0;
       size = ::read(STDIN_FILENO, bytes, sizeof bytes)) {
    text.append(bytes, static_cast<size_t>(size));
    if (text.size() > kYamlBytesMax) break;  // the reader of YAML reports it
  }
  return text;
}

/// One run of a create command. Each step needs the result of the step before it.
template <typename Command>
class Creation {
 public:
  Creation(const Command& command, const Surroundings& world, std::string name)
      : command_(command), world_(world), name_(std::move(name)) {}

  int Run() {
    const app::InterruptGuard guard;
    auto prepared = PrepareRequest();
    if (guard.interrupted()) return EndEarly();
    if (!prepared.ok()) return Complain(prepared.error());
    job_ = *std::move(prepared);
    if (command_.validate_only) return Check();
    if (command_.dry_run) return Print(PrettyJson(job_.job) + "\n");
    return Send(guard);
  }

 private:
  Result<vertex::PreparedJob> PrepareRequest() {
    auto request = command_.request;
    request.gcloud = command_.gcloud;
    const SystemClock clock;
    return vertex::Prepare(request, {.clock = clock,
                                     .read_input = ReadStandardInput,
                                     .warn = [&](const std::string& text) { Say(text); }});
  }

  int Check() {
    const auto connected = world_.connect(command_.emulator, app::Lifetime::kBriefly);
    if (!connected.ok()) return Complain(connected.error());
    const Status fits = vertex::CheckJob(**connected, job_);
    if (!fits.ok()) return Complain(fits.error());
    Say(errors::JobFits(StringOr(job_.job, "displayName")));
    return command_.dry_run ? Print(PrettyJson(job_.job) + "\n") : static_cast<int>(kExitSuccess);
  }

  int Send(const app::InterruptGuard& guard) {
    const auto connected = world_.connect(command_.emulator, app::Lifetime::kBackground);
    if (guard.interrupted()) return EndEarly();
    if (!connected.ok()) return Complain(connected.error());
    client::Connection& connection = **connected;
    Say(ai_texts::UsingEndpoint(connection.base_url()));
    if (const Status ready = MakeReady(connection); !ready.ok()) return Complain(ready.error());
    const Result<Json> created = vertex::CreateJob(connection, job_);
    if (!created.ok()) return Complain(created.error());
    Say(Outcome(*created));
    if (!command_.gcloud.format) return kExitSuccess;
    const Result<std::string> text = FormatResource(*created, *command_.gcloud.format);
    return text.ok() ? Print(*text) : Complain(text.error());
  }

  Status MakeReady(client::Connection& connection) {
    if (command_.emulator.Has("create_buckets")) {
      RETURN_IF_ERROR(vertex::EnsureOutputBucket(connection, job_));
    }
    return job_.image ? MapLocalImage(command_.emulator, *job_.image) : Status(Ok{});
  }

  std::string Outcome(const Json& created) const {
    const std::string name = StringOr(created, "name");
    if (job_.kind == JobKind::kCustomJob) return ai_texts::CustomJobSubmitted(name);
    return ai_texts::TuningJobSubmitted(name.substr(name.rfind('/') + 1), job_.location.region,
                                        StringOr(created, "state"));
  }

  int Print(const std::string& text) const {
    world_.io.out(text);
    return kExitSuccess;
  }

  void Say(const std::string& text) const {
    if (!text.empty()) world_.io.err(text);
  }

  int EndEarly() const {
    Say(errors::InterruptedEarly());
    return kExitInterrupted;
  }

  // gcloud exits with 1 for all mistakes but those of the command line itself.
  int Complain(const Error& error) const { return Fail(world_.io, name_, error.message); }

  const Command& command_;
  const Surroundings& world_;
  std::string name_;
  vertex::PreparedJob job_;
};

}  // namespace

int RunCustomJobCreate(const CustomJobCreateCommand& command, const Surroundings& world) {
  return Creation(command, world, "ai.custom-jobs.create").Run();
}

int RunTuningJobCreate(const TuningJobCreateCommand& command, const Surroundings& world) {
  return Creation(command, world, "ai.hp-tuning-jobs.create").Run();
}

}  // namespace caip::cli
