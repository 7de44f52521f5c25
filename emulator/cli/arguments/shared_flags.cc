// Flags that many commands share.

#include "base/text.h"
#include "client/flag_values.h"
#include "client/gcloud_properties.h"
#include "emulator/app/settings/settings_table.h"
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

// Flags of gcloud that have no effect in an emulator. They are accepted so that scripts work
// unchanged.
constexpr IgnoredFlag kIgnoredFlags[] = {
    {"--quiet", nullptr, "Ignored: caip never prompts."},
    {"--account", "ACCOUNT", "Ignored: the emulator has no accounts."},
    {"--billing-project", "PROJECT", "Ignored: nothing is billed."},
    {"--impersonate-service-account", "ACCOUNTS", "Ignored: the emulator has no accounts."},
    {"--access-token-file", "FILE", "Ignored: the emulator asks for no credentials."},
    {"--log-http", nullptr, "Ignored: the emulator writes an access log."},
    {"--trace-token", "TOKEN", "Ignored: no request goes to Google."},
};

const std::vector<std::string> kVerbosities = {"critical", "debug", "error",
                                               "info",     "none",  "warning"};

Grammar::Setter Drop() {
  return [](const std::string&) -> Status { return Ok{}; };
}

void AddStateDirectory(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  grammar.Flag(app, "--state", "DIR",
               "State directory, with jobs, logs and buckets (default: $CAIP_STATE, else "
               "$XDG_STATE_HOME/caip, else ~/.local/state/caip).",
               To(&into->state));
}

}  // namespace

Grammar::Setter ToInteger(std::optional<int64_t>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, client::ParseInteger(value));
    return Ok{};
  };
}

Grammar::Setter To(std::optional<std::string>* into) {
  return [into](const std::string& value) -> Status {
    *into = value;
    return Ok{};
  };
}

Grammar::Setter To(std::string* into) {
  return [into](const std::string& value) -> Status {
    *into = value;
    return Ok{};
  };
}

Grammar::Setter Append(std::vector<std::string>* into) {
  return [into](const std::string& value) -> Status {
    into->push_back(value);
    return Ok{};
  };
}

void AddGcloudFlags(Grammar& grammar, GcloudFlags* into) {
  CLI::App& root = grammar.root();
  grammar.Heading("Flags of every command");
  grammar.Flag(root, "--project", "PROJECT_ID",
               "Project of the job (default: $CLOUDSDK_CORE_PROJECT, else gcloud's configuration).",
               [into](const std::string& value) -> Status {
                 const auto project = client::ProjectOf({value, std::nullopt});
                 if (!project.ok()) return project.error();
                 into->project = value;
                 return Ok{};
               });
  grammar.Flag(root, "--configuration", "NAME",
               "The gcloud configuration that project and region are read from.",
               To(&into->configuration));
  grammar.Flag(root, "--format", "FORMAT",
               "Output format: " + Join(FormatNames(), ", ") +
                   ". Some take keys, as in gcloud: value(jobId,state). See docs/formats.md.",
               To(&into->format));
  grammar.Suggest(root, "--format", {.kind = Values::Kind::kWords, .words = FormatNames});
  grammar.Flag(root, "--verbosity", "critical|debug|error|info|none|warning",
               "The least severe messages to print.", [into](const std::string& level) -> Status {
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

void AddKmsFlags(Grammar& grammar, CLI::App& app, client::KmsFlags* kms) {
  grammar.Flag(app, "--kms-key", "KEY",
               "Encryption key: its full name, or its id with the next three flags.",
               To(&kms->key));
  grammar.Flag(app, "--kms-keyring", "KEYRING", "Key ring of --kms-key.", To(&kms->keyring));
  grammar.Flag(app, "--kms-location", "LOCATION", "Location of --kms-key.", To(&kms->location));
  grammar.Flag(app, "--kms-project", "PROJECT", "Project of --kms-key (default: the job's).",
               To(&kms->project));
}

Status CheckKmsFlags(const client::KmsFlags& kms) {
  const std::pair<const char*, const std::optional<std::string>*> parts[] = {
      {"--kms-keyring", &kms.keyring},
      {"--kms-location", &kms.location},
      {"--kms-project", &kms.project}};
  for (const auto& [flag, value] : parts) {
    if (*value && !kms.key) {
      return errors::Argument(flag, errors::OtherMustBeSpecified("--kms-key"));
    }
  }
  return Ok{};
}

void AddStateFlag(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  grammar.Heading("Flags of the emulator");
  AddStateDirectory(grammar, app, into);
  grammar.Heading(std::string(kMainFlags));
}

void AddSettingFlag(Grammar& grammar, CLI::App& app, std::string_view key,
                    app::EmulatorFlags* into) {
  using Form = app::Setting::Form;
  const app::Setting& setting = *app::FindSetting(key);
  const std::string flag(setting.flag);
  const std::string help(setting.help);
  if (setting.form == Form::kSwitch) {
    grammar.Switch(app, flag, help, [into, name = std::string(key)](bool on) {
      into->settings.erase(name);
      if (on) into->settings[name] = {"true"};
    });
    return;
  }
  const bool again = setting.form == Form::kRepeated;
  grammar.Flag(
      app, flag, std::string(setting.values), help,
      [into, again, &setting, name = std::string(key)](const std::string& value) -> Status {
        RETURN_IF_ERROR(app::CheckFlag(setting, value));
        std::vector<std::string>& values = into->settings[name];
        if (!again) values.clear();
        values.push_back(setting.complete ? setting.complete(value) : value);
        return Ok{};
      });
}

namespace {

void AddConfigFlag(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  grammar.Flag(app, "--emulator-config", "FILE",
               "Settings of the emulator in YAML (default: config.yaml in the state directory).",
               To(&into->config));
}

}  // namespace

void AddCommandFlags(Grammar& grammar, CLI::App& app, std::vector<Path>* directories,
                     int64_t* ranks) {
  grammar.Flag(
      app, "--out-dir", "DIR",
      "Of a command: a directory that it writes and that outlives machines. Each run works "
      "on a copy. Repeatable. Default: the current directory, and what a trial run writes.",
      [directories](const std::string& value) -> Status {
        directories->emplace_back(value);
        return Ok{};
      });
  grammar.Flag(app, "--torchrun", "N",
               "Of a command: run it on N machines, with the variables that torchrun gives to its "
               "ranks. If one machine is lost, all ranks start again.",
               [ranks](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto count, client::ParseCount(value));
                 *ranks = count.value_or(1);
                 return Ok{};
               });
}

void AddSettingFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into,
                     bool (*is_wanted)(const app::Setting& setting)) {
  grammar.Heading(std::string(kSettingFlags));
  for (const app::Setting& setting : app::Settings()) {
    const bool has_flag = !setting.flag.empty() && is_wanted(setting);
    if (has_flag) AddSettingFlag(grammar, app, setting.key, into);
  }
  grammar.Heading(std::string(kMainFlags));
}

void AddRunFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  AddStateFlag(grammar, app, into);
  grammar.Heading("Flags of the emulator");
  AddConfigFlag(grammar, app, into);
  grammar.Heading(std::string(kMainFlags));
}

void AddEmulatorFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into) {
  if (!grammar.Defines(app)) return;
  grammar.Heading(std::string(kSettingFlags));
  AddStateDirectory(grammar, app, into);
  AddConfigFlag(grammar, app, into);
  for (const app::Setting& setting : app::Settings()) {
    if (!setting.flag.empty()) AddSettingFlag(grammar, app, setting.key, into);
  }
  grammar.Heading(std::string(kMainFlags));
}

}  // namespace caip::cli
