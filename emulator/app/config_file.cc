#include "emulator/app/config_file.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "base/time_text.h"
#include "base/yaml.h"
#include "host/companions/companions.h"

namespace caip::app {
namespace {

constexpr size_t kConfigBytesMax = 1 << 20;

// Reads one document key by key; mistakes gather with the place of the value.
class ConfigReader {
 public:
  ConfigReader(const YamlDocument& document, std::string file)
      : document_(document), file_(std::move(file)) {}

  void Text(const std::string& key, const std::function<void(std::string)>& use) {
    known_.push_back(key);
    const Json* value = Member(document_.value, key);
    if (!value) return;
    if (const auto text = AsText(*value)) {
      use(*text);
    } else {
      Wrong("/" + key, key, "must be a text");
    }
  }

  void Flag(const std::string& key, bool& into) {
    known_.push_back(key);
    const Json* value = Member(document_.value, key);
    if (!value) return;
    if (value->is_boolean()) {
      into = value->get<bool>();
    } else {
      Wrong("/" + key, key, "must be true or false");
    }
  }

  void List(const std::string& key, std::vector<std::string>& into) {
    known_.push_back(key);
    const Json* value = Member(document_.value, key);
    if (value) into = Texts("/" + key, key, *value);
  }

  // A mapping of texts to texts or lists of texts.
  void Map(const std::string& key,
           const std::function<void(const std::string&, const Json&, const std::string&)>& use) {
    known_.push_back(key);
    const Json* value = Member(document_.value, key);
    if (!value) return;
    if (!value->is_object()) return Wrong("/" + key, key, "must be a mapping");
    for (const auto& [name, member] : value->items()) {
      use(name, member, "/" + key + "/" + ReplaceAll(ReplaceAll(name, "~", "~0"), "/", "~1"));
    }
  }

  std::vector<std::string> Texts(const std::string& pointer, const std::string& key,
                                 const Json& value) {
    std::vector<std::string> texts;
    if (!value.is_array()) Wrong(pointer, key, "must be a list of texts");
    for (const Json& element : value.is_array() ? value : Json::array()) {
      if (const auto text = AsText(element)) {
        texts.push_back(*text);
      } else {
        Wrong(pointer, key, "must hold texts only");
      }
    }
    return texts;
  }

  void Wrong(const std::string& pointer, const std::string& key, const std::string& rule) {
    const auto place = document_.places.find(pointer);
    std::string where = file_;
    if (place != document_.places.end()) {
      where +=
          ":" + std::to_string(place->second.line) + ":" + std::to_string(place->second.column);
    }
    violations_.push_back({key, where + ": " + key + " " + rule});
  }

  std::vector<FieldViolation> TakeViolations() {
    for (const auto& [key, value] : document_.value.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        Wrong("/" + key, key, "is no setting of caip; there are " + Join(known_, ", "));
      }
    }
    return std::move(violations_);
  }

  // Numbers and booleans are texts as they were written: `seed: 7`, "2.4".
  static std::optional<std::string> AsText(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number() || value.is_boolean()) return value.dump();
    return std::nullopt;
  }

 private:
  const YamlDocument& document_;
  std::string file_;
  std::vector<std::string> known_;
  std::vector<FieldViolation> violations_;
};

void ReadNumbers(ConfigReader& reader, EmulatorOptions& options) {
  reader.Text("port", [&](const std::string& text) {
    const Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_number_unsigned() && parsed.get<uint64_t>() <= 65535) {
      options.port = parsed.get<uint16_t>();
    } else {
      reader.Wrong("/port", "port", "must be a number from 0 to 65535");
    }
  });
  reader.Text("jobs_max", [&](const std::string& text) {
    const Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_number_unsigned() && parsed.get<uint64_t>() <= 1'000'000) {
      options.jobs_max = parsed.get<int>();
    } else {
      reader.Wrong("/jobs_max", "jobs_max", "must be a number from 0 (no limit) to 1000000");
    }
  });
  reader.Text("grace", [&](const std::string& text) {
    if (const auto grace = ParseDuration(text)) {
      options.grace = *grace;
    } else {
      reader.Wrong("/grace", "grace", "must be a duration such as 30s or 2m");
    }
  });
}

void ReadMaps(ConfigReader& reader, EmulatorOptions& options) {
  reader.Map("images", [&](const std::string& uri, const Json& value, const std::string& pointer) {
    std::vector<std::string> command;
    if (value.is_string()) {
      command = ShellWords(value.get<std::string>()).value_or(std::vector<std::string>{});
    } else {
      command = reader.Texts(pointer, uri, value);
    }
    if (command.empty()) {
      reader.Wrong(pointer, uri, "must be a command: a text, or a list of its words");
    } else {
      options.images[uri] = command;
    }
  });
  reader.Map(
      "runtimes", [&](const std::string& version, const Json& value, const std::string& pointer) {
        if (value.is_string() && value.get<std::string>().starts_with("/")) {
          options.runtimes[version] = value.get<std::string>();
        } else {
          reader.Wrong(pointer, version, "must be the absolute path of a Python interpreter");
        }
      });
}

void ReadCompanions(ConfigReader& reader, EmulatorOptions& options) {
  reader.List("companions", options.companions);
  const std::vector<std::string> known = host::CompanionNames();
  for (const std::string& name : options.companions) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      reader.Wrong("/companions", "companions",
                   "has no emulator called '" + name + "'; there are " + Join(known, ", "));
    }
  }
  reader.Text("cloud_sdk", [&](std::string value) {
    if (!value.starts_with("/")) {
      reader.Wrong("/cloud_sdk", "cloud_sdk", "must be the absolute path of the Cloud SDK");
    }
    options.cloud_sdk = std::move(value);
  });
}

}  // namespace

Result<ChoiceTexts> ReadConfigFile(const Path& file, EmulatorOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFileUpTo(file, kConfigBytesMax));
  ASSIGN_OR_RETURN(const YamlDocument document, ParseYaml(text, file.string()));
  ChoiceTexts texts;
  if (document.value.is_null()) return texts;
  if (!document.value.is_object()) {
    return Error{Code::kInvalidArgument,
                 file.string() + ":1:1: the file must be a mapping of settings, for example\n" +
                     "  queue_delay: constant:20m"};
  }
  ConfigReader reader(document, file.string());
  const auto keep = [&](const char* key, std::optional<std::string>& into) {
    reader.Text(key, [&into](std::string value) { into = std::move(value); });
  };
  keep("gpus", texts.gpus);
  keep("fake_gpus", texts.fake_gpus);
  keep("addressing", texts.addressing);
  keep("storage_view", texts.storage_view);
  keep("gs_front", texts.gs_front);
  keep("isolation", texts.isolation);
  keep("durability", texts.durability);
  keep("access_log", texts.access_log);
  keep("queue_delay", texts.queue_delay);
  keep("provision_delay", texts.provision_delay);
  keep("restart_delay", texts.restart_delay);
  keep("seed", texts.seed);
  reader.Text("address", [&](std::string value) { options.address = std::move(value); });
  reader.Text("project_number", [&](std::string v) { options.project_number = std::move(v); });
  reader.Text("service_account", [&](std::string v) { options.service_account = std::move(v); });
  reader.Text("idle_timeout", [&](std::string value) {
    if (!ParseDuration(value)) {
      reader.Wrong("/idle_timeout", "idle_timeout", "must be a duration such as 5m or 30s");
    }
    options.background_idle = std::move(value);
  });
  reader.Flag("create_buckets", options.create_buckets);
  reader.Flag("strict_runtime", options.strict_runtime);
  reader.List("allow_hosts", options.allowed_hosts);
  reader.List("interpreters", options.interpreters);
  reader.List("extra_regions", options.extra_regions);
  ReadNumbers(reader, options);
  ReadMaps(reader, options);
  ReadCompanions(reader, options);
  std::vector<FieldViolation> violations = reader.TakeViolations();
  if (violations.empty()) return texts;
  std::vector<std::string> sentences;
  for (const FieldViolation& violation : violations) sentences.push_back(violation.description);
  return Error{Code::kInvalidArgument, Join(sentences, "\n"), std::move(violations)};
}

std::optional<std::vector<std::string>> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace caip::app
