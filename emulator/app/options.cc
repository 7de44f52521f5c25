#include "emulator/app/options.h"

#include <algorithm>
#include <charconv>

#include "base/random.h"
#include "base/text.h"
#include "emulator/app/config_file.h"

namespace caip::app {
namespace {

using Violations = std::vector<FieldViolation>;

// One of a few words -> its value; else a violation that names them.
template <typename Value>
void ReadChoice(const std::string& field, const std::string& text,
                const std::vector<std::pair<std::string, Value>>& choices, Value& into,
                Violations& violations) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) {
      into = value;
      return;
    }
    names.push_back(name);
  }
  violations.push_back({field, "'" + text + "' is not one of: " + Join(names, ", ")});
}

void ReadDelay(const std::string& field, const std::string& text, run::DelayModel& into,
               Violations& violations) {
  auto model = run::ParseDelayModel(text);
  if (model.ok()) {
    into = *model;
  } else {
    violations.push_back({field, model.error().message});
  }
}

void ReadSeed(const std::string& field, const std::string& text, uint64_t& into,
              Violations& violations) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (code != std::errc() || end != text.data() + text.size()) {
    violations.push_back({field, "'" + text + "' is no whole number from 0 to 2^64-1"});
  }
}

// "URI=COMMAND": the command is split as a POSIX shell splits plain and quoted words.
void ReadImage(const std::string& text, EmulatorOptions& options, Violations& violations) {
  const size_t equals = text.find('=');
  const auto command = equals == std::string::npos
                           ? std::nullopt
                           : ShellWords(std::string_view(text).substr(equals + 1));
  if (equals == 0 || !command || command->empty()) {
    violations.push_back({"--map-image", "'" + text +
                                             "' is not URI=COMMAND, for example "
                                             "gcr.io/p/trainer:v1='python3 /src/train.py'"});
    return;
  }
  options.images[text.substr(0, equals)] = *command;
}

// What both a flag and the config file may say, under the name each uses.
void ReadChoices(const ChoiceTexts& texts, EmulatorOptions& options, Violations& violations) {
  if (texts.gpus) {
    ReadChoice<GpuMode>(
        texts.Name("gpus"), *texts.gpus,
        {{"queue", GpuMode::kQueue}, {"share", GpuMode::kShare}, {"cpu", GpuMode::kCpu}},
        options.gpus, violations);
  }
  if (texts.addressing) {
    ReadChoice<Addressing>(texts.Name("addressing"), *texts.addressing,
                           {{"loopback", Addressing::kLoopback}, {"ports", Addressing::kPorts}},
                           options.addressing, violations);
  }
  if (texts.storage_view) {
    ReadChoice<StorageView>(texts.Name("storage-view"), *texts.storage_view,
                            {{"gs", StorageView::kGs}, {"path", StorageView::kPath}},
                            options.storage_view, violations);
  }
  if (texts.gs_front) {
    ReadChoice<GsFront>(texts.Name("gs-front"), *texts.gs_front,
                        {{"off", GsFront::kOff}, {"proxy", GsFront::kProxy}}, options.gs_front,
                        violations);
  }
  if (texts.isolation) {
    ReadChoice<Isolation>(texts.Name("isolation"), *texts.isolation,
                          {{"none", Isolation::kNone}, {"namespaces", Isolation::kNamespaces}},
                          options.isolation, violations);
  }
  if (texts.durability) {
    ReadChoice<bool>(texts.Name("durability"), *texts.durability,
                     {{"full", true}, {"relaxed", false}}, options.durable_storage, violations);
  }
  if (texts.access_log) options.access_log = *texts.access_log;
  if (texts.fake_gpus) options.fake_gpus = *texts.fake_gpus;
  if (texts.queue_delay) {
    ReadDelay(texts.Name("queue-delay"), *texts.queue_delay, options.queue_delay, violations);
  }
  if (texts.provision_delay) {
    ReadDelay(texts.Name("provision-delay"), *texts.provision_delay, options.provision_delay,
              violations);
  }
  if (texts.restart_delay) {
    ReadDelay(texts.Name("restart-delay"), *texts.restart_delay, options.restart_delay, violations);
  }
  if (texts.seed) ReadSeed(texts.Name("seed"), *texts.seed, options.seed, violations);
}

}  // namespace

std::string ChoiceTexts::Name(std::string_view flag) const {
  return from_file ? ReplaceAll(std::string(flag), "-", "_") : "--" + std::string(flag);
}

Result<EmulatorOptions> ReadOptions(const EmulatorFlags& flags, const Path& state) {
  EmulatorOptions options;
  options.state = state;
  options.seed = SeedFromSystem();
  Violations violations;
  const Path default_file = state / "config.yaml";
  std::error_code ignored;
  if (flags.config || std::filesystem::exists(default_file, ignored)) {
    ASSIGN_OR_RETURN(const ChoiceTexts texts,
                     ReadConfigFile(flags.config ? Path(*flags.config) : default_file, options));
    ReadChoices(texts, options, violations);
  }
  ReadChoices({.from_file = false,
               .gpus = flags.gpus,
               .fake_gpus = flags.fake_gpus,
               .addressing = flags.addressing,
               .storage_view = flags.storage_view,
               .gs_front = flags.gs_front,
               .isolation = flags.isolation,
               .durability = flags.durability,
               .access_log = flags.access_log,
               .queue_delay = flags.queue_delay,
               .provision_delay = flags.provision_delay,
               .restart_delay = std::nullopt,
               .seed = flags.seed},
              options, violations);
  for (const std::string& text : flags.map_images) ReadImage(text, options, violations);
  options.create_buckets = options.create_buckets || flags.create_buckets;
  options.strict_runtime = options.strict_runtime || flags.strict_runtime;
  if (options.isolation == Isolation::kNamespaces && !options.companions.empty()) {
    violations.push_back({"isolation",
                          "replicas with namespaces of their own cannot reach the emulators that "
                          "'companions' names, which listen on this host; leave one of them out"});
  }
  if (violations.empty()) return options;
  std::vector<std::string> sentences;
  for (const FieldViolation& violation : violations) {
    sentences.push_back(violation.field + ": " + violation.description);
  }
  return Error{Code::kInvalidArgument, Join(sentences, "\n"), std::move(violations)};
}

}  // namespace caip::app
