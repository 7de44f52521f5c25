#include "client/gcloud_properties.h"

#include <cstdlib>

#include "base/text.h"
#include "client/errors.h"
#include "google/project_id.h"

namespace caip::client {
namespace {

std::optional<std::string> Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

Path Home() { return Environment("HOME").value_or("/"); }

std::string ActiveConfiguration(const GcloudContext& context, const Path& directory) {
  if (context.configuration) return *context.configuration;
  if (const auto name = Environment("CLOUDSDK_ACTIVE_CONFIG_NAME")) return *name;
  const Result<std::string> active = ReadFileUpTo(directory / "active_config", 4096);
  const std::string name(active.ok() ? Trim(*active) : "");
  return name.empty() ? "default" : name;
}

// The value of `name` in [section] of an INI file, as Python's configparser writes it.
std::optional<std::string> IniValue(const std::string& text, const std::string& section,
                                    const std::string& name) {
  std::string current;
  std::optional<std::string> value;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view plain = Trim(line);
    if (plain.starts_with('[') && plain.ends_with(']')) {
      current = plain.substr(1, plain.size() - 2);
    }
    const size_t equals = plain.find_first_of("=:");
    if (current != section || equals == std::string_view::npos || plain.starts_with('#') ||
        plain.starts_with(';')) {
      continue;
    }
    if (LowerCase(Trim(plain.substr(0, equals))) == name) value = Trim(plain.substr(equals + 1));
  }
  return value;
}

}  // namespace

std::optional<std::string> GcloudProperty(const GcloudContext& context, const std::string& section,
                                          const std::string& name) {
  const std::string variable = UpperCase("CLOUDSDK_" + section + "_" + name);
  if (auto value = Environment(variable)) return value;
  const auto chosen = Environment("CLOUDSDK_CONFIG");
  const Path directory = chosen ? Path(*chosen) : Home() / ".config" / "gcloud";
  const std::string configuration = ActiveConfiguration(context, directory);
  if (configuration == "NONE" || configuration.find('/') != std::string::npos) return std::nullopt;
  const Result<std::string> text =
      ReadFileUpTo(directory / "configurations" / ("config_" + configuration), 1 << 20);
  return text.ok() ? IniValue(*text, section, name) : std::nullopt;
}

Result<std::string> ProjectOf(const GcloudContext& context) {
  const std::optional<std::string> project =
      context.project ? context.project : GcloudProperty(context, "core", "project");
  if (!project) return errors::ProjectMissing();
  if (project->empty()) return errors::ProjectEmpty();
  if (!google::IsProjectId(*project)) return errors::ProjectNotAnId(*project);
  if (context.project && IsDigits(*project)) return errors::ProjectNumberGiven();
  return *project;
}

}  // namespace caip::client
