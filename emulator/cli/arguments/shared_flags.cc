// Flags that many commands share.

#include "base/text.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli {
namespace {

struct IgnoredFlag {
  const char* name;
  const char* metavar;  // nullptr: a switch
  const char* why;
};

// gcloud's own flags that mean nothing to an emulator. Accepted, so that scripts need no edit.
constexpr IgnoredFlag kIgnoredFlags[] = {
    {"--quiet", nullptr, "Ignored: caip never asks."},
    {"--account", "ACCOUNT", "Ignored: the emulator has no accounts."},
    {"--billing-project", "PROJECT", "Ignored: nothing is billed."},
    {"--impersonate-service-account", "ACCOUNTS", "Ignored: the emulator has no accounts."},
    {"--access-token-file", "FILE", "Ignored: the emulator asks for no credentials."},
    {"--log-http", nullptr, "Ignored: the emulator's own log tells its requests."},
    {"--trace-token", "TOKEN", "Ignored: there is no Google to trace the request."},
};

const std::vector<std::string> kVerbosities = {"critical", "debug", "error",
                                               "info",     "none",  "warning"};

Grammar::Setter Drop() {
  return [](const std::string&) -> Status { return Ok{}; };
}

}  // namespace

void AddGcloudFlags(Grammar& grammar, GcloudFlags* into) {
  CLI::App& root = grammar.root();
  grammar.Heading("Flags of every command");
  grammar.Flag(root, "--project", "PROJECT_ID",
               "Project of the job. Else $CLOUDSDK_CORE_PROJECT, else gcloud's configuration.",
               To(&into->project));
  grammar.Flag(root, "--configuration", "NAME",
               "Which of gcloud's configurations to read project and region from.",
               To(&into->configuration));
  grammar.Flag(root, "--format", "FORMAT",
               "How to print results: " + Join(FormatNames(), ", ") +
                   ", with keys where they need them: value(jobId,state). As in gcloud; "
                   "docs/formats.md.",
               To(&into->format));
  grammar.Flag(root, "--verbosity", "critical|debug|error|info|none|warning",
               "Which messages to print.", [into](const std::string& level) -> Status {
                 for (const std::string& known : kVerbosities) {
                   if (level == known) {
                     into->verbosity = level;
                     return Ok{};
                   }
                 }
                 return errors::NoSuchChoice(level, kVerbosities);
               });
  grammar.Switch(root, "--user-output-enabled", "Print results and messages (the default).",
                 &into->user_output_enabled);
  static bool ignored = false;
  for (const IgnoredFlag& flag : kIgnoredFlags) {
    if (flag.metavar) {
      grammar.Flag(root, flag.name, flag.metavar, flag.why, Drop());
    } else {
      const std::string name = flag.name;
      grammar.Switch(root, name == "--quiet" ? "-q,--quiet" : name, flag.why, &ignored);
    }
  }
}

void AddStateFlag(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  grammar.Heading("Flags of the emulator");
  grammar.Flag(app, "--state", "DIR",
               "State directory: jobs, logs, buckets. Else $CAIP_STATE, else "
               "$XDG_STATE_HOME/caip, else ~/.local/state/caip.",
               To(&into->state));
  grammar.Heading("Flags");
}

void AddEmulatorFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  AddStateFlag(grammar, app, into);
  grammar.Heading("Flags of the emulator");
  grammar.Flag(app, "--emulator-config", "FILE",
               "Settings of the emulator (YAML). Else config.yaml in the state directory.",
               To(&into->config));
  grammar.Flag(app, "--map-image", "URI=COMMAND",
               "Run COMMAND where a job asks for the container image URI. Repeatable.",
               [into](const std::string& value) -> Status {
                 into->map_images.push_back(value);
                 return Ok{};
               });
  grammar.Switch(app, "--create-buckets", "Make missing buckets instead of refusing the job.",
                 &into->create_buckets);
  grammar.Flag(app, "--gpus", "queue|share|cpu",
               "What becomes of a job that asks for more GPUs than there are: it waits, shares "
               "them, or runs on the CPU.",
               To(&into->gpus));
  grammar.Flag(app, "--fake-gpus", "NxTYPE", "Pretend to have GPUs: 4xNVIDIA_TESLA_T4.",
               To(&into->fake_gpus));
  grammar.Flag(app, "--addressing", "loopback|ports",
               "Addresses of replicas: own loopback addresses with one port, or localhost with "
               "own ports.",
               To(&into->addressing));
  grammar.Flag(app, "--storage-view", "gs|path",
               "What trainers get as --job-dir: gs://, or the directory behind it.",
               To(&into->storage_view));
  grammar.Flag(app, "--gs-front", "off|proxy",
               "How trainers whose library knows only Google's https names for gs:// (TensorFlow) "
               "are led here: by https_proxy and an own certificate authority, or not.",
               To(&into->gs_front));
  grammar.Flag(app, "--isolation", "none|namespaces",
               "Whether a job's replicas get a network, a hosts file and host names of their own, "
               "where Google's names and the metadata server are at their real addresses.",
               To(&into->isolation));
  grammar.Flag(app, "--durability", "full|relaxed",
               "Whether storage's acknowledged writes outlive a power cut. relaxed is faster; a "
               "killed process loses nothing either way.",
               To(&into->durability));
  grammar.Flag(app, "--access-log", "FILE",
               "Where each request leaves a line: a file, - for the standard output, or off. Else "
               "access.log in the state directory.",
               To(&into->access_log));
  grammar.Flag(app, "--queue-delay", "MODEL",
               "How long jobs stay QUEUED: none, constant:20m, uniform:1m..20m, "
               "lognormal:median=5m,sigma=0.8 or stock-out:tries=3. Waiting costs nothing.",
               To(&into->queue_delay));
  grammar.Flag(app, "--provision-delay", "MODEL", "How long jobs stay PREPARING; same forms.",
               To(&into->provision_delay));
  grammar.Switch(app, "--strict-runtime",
                 "Refuse jobs whose Python version is not on this host, instead of running them "
                 "with the nearest.",
                 &into->strict_runtime);
  grammar.Flag(app, "--seed", "N", "Seed of all chance, to repeat a run.", To(&into->seed));
  grammar.Heading("Flags");
}

}  // namespace caip::cli
