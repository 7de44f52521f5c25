#include "client/submit_config.h"

#include "base/files.h"
#include "base/text.h"
#include "client/errors.h"

namespace caip::client {
namespace {

// "/trainingInput/args/0" -> "trainingInput.args[0]".
std::string DottedPath(std::string_view pointer) {
  std::string path;
  for (const std::string& step : Split(pointer.substr(pointer.empty() ? 0 : 1), '/')) {
    const std::string name = ReplaceAll(ReplaceAll(step, "~1", "/"), "~0", "~");
    const bool index = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (index && !path.empty()) {
      path += "[" + name + "]";
    } else {
      path += (path.empty() ? "" : ".") + name;
    }
  }
  return path;
}

bool IsPointer(const std::string& field) { return field.empty() || field.starts_with('/'); }

}  // namespace

Result<SubmitConfig> SubmitConfig::Load(const std::string& path) {
  const Result<std::string> text = ReadFileUpTo(path, kYamlBytesMax);
  if (!text.ok()) return errors::ConfigUnreadable(path, text.error().message);
  SubmitConfig config;
  config.path_ = path;
  Result<YamlDocument> document = ParseYaml(*text, path);
  if (!document.ok()) return errors::ConfigBroken(path, document.error().message);
  config.document_ = std::move(*document);
  return config;
}

SubmitFile SubmitConfig::File() const {
  return {&document_.value, document_.dates, document_.duplicates};
}

// The value's own place, or that of the nearest value around it that has one.
std::string SubmitConfig::PlaceOf(std::string pointer) const {
  while (true) {
    const auto found = document_.places.find(pointer);
    if (found != document_.places.end()) {
      return path_ + ":" + std::to_string(found->second.line) + ":" +
             std::to_string(found->second.column);
    }
    const size_t slash = pointer.rfind('/');
    if (slash == std::string::npos) return path_;
    pointer.resize(slash);
  }
}

std::string SubmitConfig::Shown(const Error& error) const {
  std::string text = error.message;
  for (const FieldViolation& violation : error.violations) {
    const bool of_file = IsPointer(violation.field);
    const std::string name = of_file ? DottedPath(violation.field) : violation.field;
    text += "\n  ";
    if (of_file) text += PlaceOf(violation.field) + ": ";
    text += (name.empty() ? "" : name + ": ") + violation.description;
  }
  return text;
}

std::string SubmitConfig::DuplicateWarnings() const {
  std::string text;
  for (const std::string& pointer : document_.duplicates) {
    text += errors::DuplicateKeyWarning(PlaceOf(pointer), DottedPath(pointer));
  }
  return text;
}

std::string ShownWithoutFile(const Error& error) {
  std::string text = error.message;
  for (const FieldViolation& violation : error.violations) {
    text += "\n  " + violation.field + ": " + violation.description;
  }
  return text;
}

}  // namespace caip::client
