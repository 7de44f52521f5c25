#include "harness/scenario/file_cursor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/text.h"
#include "base/time_text.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

const Json kMissing;
constexpr size_t kFileBytesMax = 4u << 20;

const char* KindOf(const Json& json) {
  if (json.is_null()) return "nothing";
  if (json.is_object()) return "a mapping";
  if (json.is_array()) return "a list";
  if (json.is_boolean()) return "true or false";
  if (json.is_number()) return "a number";
  return "a string";
}

bool IsHuge(const Json& json) {
  return json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
}

// "/faults/0/kill" -> "faults[0].kill".
std::string NameOf(const std::string& pointer) {
  std::string name;
  for (const std::string& part : Split(pointer, '/')) {
    if (part.empty()) continue;
    const bool index = part.find_first_not_of("0123456789") == std::string::npos;
    if (index) {
      name += "[" + part + "]";
    } else {
      name += (name.empty() ? "" : ".") + NameOfPointerStep(part);
    }
  }
  return name;
}

}  // namespace

std::shared_ptr<FileText> FileTextOf(YamlDocument document, std::string text, std::string name) {
  auto file = std::make_shared<FileText>();
  file->name = std::move(name);
  file->text = std::move(text);
  file->document = std::move(document);
  const YamlDocument& read = file->document;
  for (size_t i = 0; i < read.duplicates.size(); ++i) {
    const Place& place = read.duplicate_places[i];
    file->mistakes.push_back(YamlError(file->text, file->name, place.line - 1, place.column - 1,
                                       NameOf(read.duplicates[i]) + ": " + texts::WrittenTwice())
                                 .message);
  }
  return file;
}

Result<std::shared_ptr<FileText>> OpenFileText(const Path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFileUpTo(path, kFileBytesMax));
  ASSIGN_OR_RETURN(YamlDocument document, ParseYaml(text, path.string()));
  return FileTextOf(std::move(document), std::move(text), path.string());
}

Cursor::Cursor(std::shared_ptr<FileText> file) : file_(std::move(file)) {
  json_ = &file_->document.value;
}

Cursor::Cursor(std::shared_ptr<FileText> file, const Json* json, std::string pointer)
    : file_(std::move(file)), json_(json), pointer_(std::move(pointer)) {}

std::string Cursor::name() const { return NameOf(pointer_); }

void Cursor::WrongKey(const std::string& what) const {
  const auto place = file_->document.key_places.find(pointer_);
  if (place == file_->document.key_places.end()) return Wrong(what);
  file_->mistakes.push_back(YamlError(file_->text, file_->name, place->second.line - 1,
                                      place->second.column - 1, name() + ": " + what)
                                .message);
}

void Cursor::Wrong(const std::string& what) const {
  std::string pointer = pointer_;
  auto place = file_->document.places.find(pointer);
  while (place == file_->document.places.end() && !pointer.empty()) {
    pointer.resize(pointer.rfind('/'));
    place = file_->document.places.find(pointer);
  }
  const std::string words = (pointer_.empty() ? "" : name() + ": ") + what;
  if (place == file_->document.places.end()) {
    file_->mistakes.push_back(file_->name + ": " + words);
    return;
  }
  file_->mistakes.push_back(
      YamlError(file_->text, file_->name, place->second.line - 1, place->second.column - 1, words)
          .message);
}

bool Cursor::Has(std::string_view key) const { return Member(*json_, key) != nullptr; }

Cursor Cursor::At(std::string_view key) const {
  const Json* member = Member(*json_, key);
  return Cursor(file_, member ? member : &kMissing, pointer_ + PointerStep(key));
}

std::vector<std::pair<std::string, Cursor>> Cursor::Members() const {
  std::vector<std::pair<std::string, Cursor>> members;
  if (!IsMap()) return members;
  for (const auto& [key, value] : json_->items()) {
    members.emplace_back(key, Cursor(file_, &value, pointer_ + PointerStep(key)));
  }
  return members;
}

std::vector<Cursor> Cursor::Elements() const {
  if (!IsList()) return {*this};
  std::vector<Cursor> elements;
  for (size_t i = 0; i < json_->size(); ++i) {
    elements.push_back(Cursor(file_, &(*json_)[i], pointer_ + "/" + std::to_string(i)));
  }
  return elements;
}

std::string Cursor::Text() const {
  if (json_->is_string()) return json_->get<std::string>();
  if (json_->is_number()) return CompactJson(*json_);
  Wrong(texts::WrongKind("a string", KindOf(*json_)));
  return "";
}

std::vector<std::string> Cursor::Texts() const {
  std::vector<std::string> texts;
  for (const Cursor& element : Elements()) texts.push_back(element.Text());
  return texts;
}

int64_t Cursor::Integer(int64_t least, int64_t most) const {
  if (!json_->is_number_integer() || IsHuge(*json_)) {
    const bool is_number = json_->is_number();
    const bool is_large = is_number && std::abs(json_->get<double>()) >= 9.2e18;
    Wrong(is_large ? texts::NumberTooLarge()
                   : texts::NotAWholeNumber(is_number ? CompactJson(*json_) : KindOf(*json_)));
    return std::max<int64_t>(least, 0);
  }
  const auto value = json_->get<int64_t>();
  if (value < least || value > most) {
    Wrong(texts::NumberOutOfRange(least, most));
    return least;
  }
  return value;
}

double Cursor::Number() const {
  if (json_->is_number()) return json_->get<double>();
  Wrong(texts::WrongKind("a number", KindOf(*json_)));
  return 0;
}

bool Cursor::Flag() const {
  if (json_->is_boolean()) return json_->get<bool>();
  Wrong(texts::WrongKind("true or false", KindOf(*json_)));
  return false;
}

Duration Cursor::Time(bool may_be_negative) const {
  const std::string text = json_->is_string() ? json_->get<std::string>() : "";
  const bool negative = may_be_negative && text.starts_with('-');
  const auto time = ParseDuration(std::string_view(text).substr(negative ? 1 : 0));
  if (!time) Wrong(texts::NotADuration());
  return time ? (negative ? -*time : *time) : Duration(0);
}

void Cursor::OnlyKeys(const std::vector<std::string>& known) const {
  for (const auto& [key, member] : Members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    member.WrongKey(texts::UnknownKey(key, known));
  }
}

bool Cursor::MustBeMap() const {
  if (IsMap()) return true;
  Wrong(texts::WrongKind("a mapping", KindOf(*json_)));
  return false;
}

}  // namespace caip::harness
