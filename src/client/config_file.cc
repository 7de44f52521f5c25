#include "client/config_file.h"

#include <utility>

#include "base/encoding.h"
#include "base/files.h"
#include "base/text.h"
#include "client/errors.h"

namespace caip::client {
namespace {

// "/trainingInput/args/0" -> "trainingInput.args[0]".
std::string DottedPath(std::string_view pointer) {
  std::string path;
  for (const std::string& step : Split(pointer.substr(pointer.empty() ? 0 : 1), '/')) {
    const std::string name = NameOfPointerStep(step);
    if (IsDigits(name) && !path.empty()) {
      path += "[" + name + "]";
    } else {
      path += (path.empty() ? "" : ".") + name;
    }
  }
  return path;
}

bool IsPointer(const std::string& field) { return field.empty() || field.starts_with('/'); }

}  // namespace

Result<ConfigFile> ConfigFile::Load(const std::string& path) {
  Result<std::string> text = ReadFileUpTo(path, kYamlBytesMax);
  if (!text.ok()) return errors::ConfigUnreadable(path, text.error().message);
  Result<ConfigFile> config = Parse(*std::move(text), path);
  return config.ok() ? std::move(config) : errors::ConfigBroken(path, config.error().message);
}

Result<ConfigFile> ConfigFile::Parse(std::string text, const std::string& name) {
  ConfigFile config;
  config.path_ = name;
  config.text_ = std::move(text);
  ASSIGN_OR_RETURN(config.document_, ParseYaml(config.text_, name));
  return config;
}

SubmitFile ConfigFile::File() const {
  return {&document_.value, document_.dates, document_.duplicates};
}

Place ConfigFile::PlaceOf(std::string pointer) const {
  while (true) {
    const auto found = document_.places.find(pointer);
    if (found != document_.places.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    if (slash == std::string::npos) return {};
    pointer.resize(slash);
  }
}

std::string ConfigFile::At(const Place& place, const std::string& text) const {
  if (place.line == 0) return path_ + ": " + text;
  return YamlError(text_, path_, place.line - 1, place.column - 1, text).message;
}

std::string ConfigFile::Shown(const Error& error) const {
  std::string text = error.message;
  for (const FieldViolation& violation : error.violations) {
    const bool of_file = IsPointer(violation.field);
    const std::string name = of_file ? DottedPath(violation.field) : violation.field;
    const std::string line = (name.empty() ? "" : name + ": ") + violation.description;
    text += "\n  " + (of_file ? At(PlaceOf(violation.field), line) : line);
  }
  return text;
}

std::string ConfigFile::Hints(const std::vector<FileHint>& hints) const {
  std::string text;
  for (const FileHint& hint : hints) {
    const auto key = document_.key_places.find(hint.pointer);
    const bool at_key = hint.is_key && key != document_.key_places.end();
    const std::string line = DottedPath(hint.pointer) + ": " + hint.text;
    text += "\n" + At(at_key ? key->second : PlaceOf(hint.pointer), line);
  }
  return text;
}

std::string ConfigFile::DuplicateWarnings() const {
  std::string text;
  for (const std::string& pointer : document_.duplicates) {
    const Place place = PlaceOf(pointer);
    text += errors::DuplicateKeyWarning(
        path_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column),
        DottedPath(pointer));
  }
  return text;
}

}  // namespace caip::client
