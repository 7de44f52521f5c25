#include "emulator/cli/print/variables_text.h"

#include <algorithm>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"

namespace caip::cli {
namespace {

// One line that dotenv's readers agree on: quoted where a blank, a quote or a # would be misread.
std::string DotenvValue(const std::string& value) {
  if (value.find_first_of(" \t\"'#$\\`") == std::string::npos) return value;
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') quoted += '\\';
    quoted += c;
  }
  return "\"" + quoted + "\"";
}

std::string PowershellQuoted(const std::string& value) {
  return "'" + ReplaceAll(value, "'", "''") + "'";
}

}  // namespace

const std::vector<std::string>& VariablesFormatNames() {
  static const std::vector<std::string> names = {"shell", "dotenv", "json", "github", "powershell"};
  return names;
}

std::optional<VariablesFormat> VariablesFormatNamed(std::string_view name) {
  const auto& names = VariablesFormatNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<VariablesFormat>(found - names.begin());
}

std::string SetText(const Variables& variables, VariablesFormat format) {
  std::string text;
  Json object = Json::object();
  for (const auto& [name, value] : variables) {
    switch (format) {
      case VariablesFormat::kShell:
        text += "export " + name + "=" + ShellQuoted(value) + "\n";
        break;
      case VariablesFormat::kDotenv:
        text += name + "=" + DotenvValue(value) + "\n";
        break;
      case VariablesFormat::kJson:
        object[name] = value;
        break;
      case VariablesFormat::kGithub:
        text += name + "=" + value + "\n";
        break;
      case VariablesFormat::kPowershell:
        text += "$env:" + name + " = " + PowershellQuoted(value) + "\n";
        break;
    }
  }
  if (format == VariablesFormat::kJson) return PrettyJson(object) + "\n";
  if (format == VariablesFormat::kShell) text += "# eval \"$(caip env)\" sets these in a shell.\n";
  return text;
}

std::string UnsetText(const Variables& variables, VariablesFormat format) {
  std::string text;
  Json object = Json::object();
  for (const auto& [name, value] : variables) {
    switch (format) {
      case VariablesFormat::kShell:
        text += "unset " + name + "\n";
        break;
      case VariablesFormat::kDotenv:
      case VariablesFormat::kGithub:
        text += name + "=\n";
        break;
      case VariablesFormat::kJson:
        object[name] = nullptr;
        break;
      case VariablesFormat::kPowershell:
        text += "Remove-Item -ErrorAction Ignore Env:" + name + "\n";
        break;
    }
  }
  return format == VariablesFormat::kJson ? PrettyJson(object) + "\n" : text;
}

}  // namespace caip::cli
