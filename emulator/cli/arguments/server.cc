// The flags of serve, stop, env, doctor, init, ps, clean and buckets, which gcloud does
// not have.

#include <algorithm>

#include "base/text.h"
#include "base/time_text.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/commands/env.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/init/templates.h"

namespace caip::cli {
namespace {

void AddServe(Grammar& grammar) {
  const auto serve = std::make_shared<ServeCommand>();
  CLI::App& app =
      grammar.Leaf(grammar.root(), "serve", "Runs the emulator in the foreground until Ctrl-C.",
                   "Examples:\n  caip serve --port 8080\n"
                   "  caip serve --create-buckets --queue-delay constant:20m\n"
                   "  eval \"$(caip env)\"    # in another shell, to point gcloud at it",
                   [serve](const Words&) -> Result<Command> { return Command(*serve); });
  grammar.Flag(app, "--port", "PORT", "Port to listen on; 0 takes any free port.",
               [serve](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const int64_t port, client::ParseInteger(value));
                 if (port < 0) return client::errors::IntegerTooSmall(value, 0);
                 if (port > 65535) return errors::PortTooLarge(value);
                 serve->port = port;
                 return Ok{};
               });
  grammar.Flag(app, "--address", "ADDRESS",
               "Address to listen on (default: " + std::string(app::kDefaultAddress) + ").",
               To(&serve->address));
  grammar.Flag(app, "--allow-host", "NAME",
               "Also answer requests with this Host header, besides loopback names. Repeatable.",
               [serve](const std::string& value) -> Status {
                 serve->allow_hosts.push_back(value);
                 return Ok{};
               });
  grammar.Flag(app, "--idle-timeout", "DURATION",
               "End after this time without requests and unfinished jobs: 10m.",
               [serve](const std::string& value) -> Status {
                 if (!ParseDuration(value)) return errors::NotADuration(value);
                 serve->idle_timeout = value;
                 return Ok{};
               });
  AddEmulatorFlags(grammar, app, &serve->emulator);
}

void AddSmallCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto stop = std::make_shared<StopCommand>();
  CLI::App& stop_app =
      grammar.Leaf(grammar.root(), "stop", "Ends the emulator of the state directory.",
                   "Examples:\n  caip stop\n  caip stop --state /tmp/state",
                   [stop](const Words&) -> Result<Command> { return Command(*stop); });
  AddStateFlag(grammar, stop_app, &stop->emulator);

  const auto env = std::make_shared<EnvCommand>();
  CLI::App& env_app = grammar.Leaf(
      grammar.root(), "env", "Prints the variables that point Google's clients at the emulator.",
      "Examples:\n  eval \"$(caip env)\"\n  caip env --format dotenv > .env\n"
      "  caip env --format github >> \"$GITHUB_ENV\"\n"
      "  caip env --format powershell | Out-String | Invoke-Expression\n"
      "  eval \"$(caip env --unset)\"\n"
      "  caip env --remote host.docker.internal --format dotenv > remote.env\n"
      "  caip env --hosts | sudo tee -a /etc/hosts",
      [env, &gcloud](const Words&) -> Result<Command> {
        if (env->remote && (env->tls || env->hosts || env->unset)) {
          return errors::Argument("--remote",
                                  errors::AtMostOneOf({"--remote", "--tls", "--hosts", "--unset"}));
        }
        env->gcloud = gcloud;
        return Command(*env);
      });
  grammar.Switch(
      env_app, "--tls",
      "Also set a proxy and a certificate authority, for clients that use only https, such as "
      "TensorFlow's gs://.",
      &env->tls);
  grammar.Switch(env_app, "--unset", "Print the commands that unset the variables.", &env->unset);
  grammar.Switch(env_app, "--hosts",
                 "Print the hosts file lines that regional endpoints (--region) need.",
                 &env->hosts);
  grammar.Flag(env_app, "--remote", "HOST",
               "Print the variables for clients in containers, on other hosts, and of other users. "
               "They reach the emulator at HOST, and the variables contain its token.",
               [env](const std::string& host) -> Status {
                 const bool has_brackets = host.starts_with('[') && host.ends_with(']');
                 const char* forbidden = has_brackets ? "/@?# " : "/@?# :";
                 if (host.empty() || host.find_first_of(forbidden) != std::string::npos) {
                   return errors::NotAHost(host);
                 }
                 env->remote = host;
                 return Ok{};
               });
  grammar.Suggest(env_app, "--format",
                  {.kind = Values::Kind::kWords, .words = VariablesFormatNames});
  AddEmulatorFlags(grammar, env_app, &env->emulator);

  const auto doctor = std::make_shared<DoctorCommand>();
  CLI::App& doctor_app = grammar.Leaf(
      grammar.root(), "doctor",
      "Lists what this host offers, and what is lost with each missing part.",
      "Examples:\n  caip doctor\n  caip doctor --format json", FinishWith(doctor, gcloud));
  grammar.Suggest(doctor_app, "--format", {.kind = Values::Kind::kWords, .words = DoctorFormats});
  AddEmulatorFlags(grammar, doctor_app, &doctor->emulator);
}

void AddInit(Grammar& grammar) {
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto kinds = [] {
    std::vector<std::string> names;
    for (const std::string_view kind : TemplateKinds()) names.emplace_back(kind);
    return names;
  };
  const auto finish = [words, kinds](const Words&) -> Result<Command> {
    const std::vector<std::string> names = kinds();
    if (words->empty()) return errors::Argument("KIND", errors::ChoiceMissing(names));
    const std::string& kind = words->front();
    if (std::find(names.begin(), names.end(), kind) == names.end()) {
      return errors::Argument("KIND", errors::NoSuchChoice(kind, names));
    }
    if (words->size() > 2) {
      return errors::UnrecognizedArguments({words->begin() + 2, words->end()}, "", "");
    }
    return Command(InitCommand{kind, words->size() == 2 ? words->back() : "."});
  };
  CLI::App& app = grammar.Leaf(
      grammar.root(), "init", "Writes a new trainer, its job, a scenario and a workflow for CI.",
      "Examples:\n  caip init plain my-trainer\n  caip init torch", finish);
  grammar.Usages(app, {"KIND [FOLDER] [flags]"});
  grammar.OptionalWords(app, "KIND [FOLDER]",
                        Join(kinds(), ", ") + "; and the folder (default: this one).",
                        Append(words.get()));
  grammar.Suggest(app, "KIND [FOLDER]", {.kind = Values::Kind::kWords, .words = kinds});
}

void AddPs(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto ps = std::make_shared<PsCommand>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "ps", "Lists the project's jobs that have not ended, and their replicas.",
      "Examples:\n  caip ps\n  caip ps --format 'value(jobId,pid)'", FinishWith(ps, gcloud));
  AddStateFlag(grammar, app, &ps->emulator);
}

void AddClean(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto clean = std::make_shared<CleanCommand>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "clean", "Removes the project's jobs that have ended, with their logs.",
      "Examples:\n  caip clean --older-than 7d\n  caip clean --dry-run", FinishWith(clean, gcloud));
  grammar.Flag(app, "--older-than", "DURATION",
               "Only jobs that ended at least so long ago: 7d, 12h.",
               [clean](const std::string& value) -> Status {
                 const auto age = ParseDuration(value);
                 if (!age || *age < Duration(0)) return errors::NotADuration(value);
                 clean->older_than = *age;
                 return Ok{};
               });
  grammar.Switch(app, "--dry-run", "Print what would be removed; remove nothing.", &clean->dry_run);
  grammar.Switch(app, "--strict", std::string(kKeepIds), &clean->strict);
  AddEmulatorFlags(grammar, app, &clean->emulator);
}

void AddBucketNames(Grammar& grammar, CLI::App& app, std::vector<std::string>* buckets) {
  grammar.Positional(
      app, "BUCKET", "Name of a bucket, with or without gs://.",
      [buckets](const std::string& value) -> Status {
        const bool is_uri = google::HasGcsScheme(value);
        const std::string url = is_uri ? value : std::string(google::kGcsScheme) + value;
        ASSIGN_OR_RETURN(std::string bucket, client::ParseStagingBucket(url));
        buckets->push_back(std::move(bucket));
        return Ok{};
      },
      true);
}

void AddBuckets(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& buckets = grammar.Group(grammar.root(), "buckets",
                                    "Creates, lists and removes the emulator's buckets.");
  const auto create = std::make_shared<BucketsCreateCommand>();
  CLI::App& app = grammar.Leaf(buckets, "create", "Creates buckets.",
                               "Examples:\n  caip buckets create gs://my-bucket gs://other",
                               FinishWith(create, gcloud));
  AddBucketNames(grammar, app, &create->buckets);
  AddEmulatorFlags(grammar, app, &create->emulator);

  const auto rm = std::make_shared<BucketsRmCommand>();
  CLI::App& rm_app = grammar.Leaf(buckets, "rm", "Removes buckets.",
                                  "Examples:\n  caip buckets rm gs://other\n"
                                  "  caip buckets rm -r my-bucket    # with its objects",
                                  FinishWith(rm, gcloud));
  AddBucketNames(grammar, rm_app, &rm->buckets);
  grammar.Switch(rm_app, "-r,--recursive", "Remove the objects of the buckets, too.",
                 &rm->recursive);
  AddEmulatorFlags(grammar, rm_app, &rm->emulator);

  const auto list = std::make_shared<BucketsListCommand>();
  CLI::App& list_app = grammar.Leaf(buckets, "list", "Lists the buckets.",
                                    "Examples:\n  caip buckets list", FinishWith(list, gcloud));
  AddEmulatorFlags(grammar, list_app, &list->emulator);
}

}  // namespace

void AddServerCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  AddServe(grammar);
  AddSmallCommands(grammar, gcloud);
  AddInit(grammar);
  AddPs(grammar, gcloud);
  AddClean(grammar, gcloud);
  AddBuckets(grammar, gcloud);
}

}  // namespace caip::cli
