#include "base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <set>
#include <streambuf>
#include <utility>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/text.h"
#include "base/yaml_scalar.h"
#include "base/yaml_texts.h"

namespace caip {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // marks count without it
constexpr size_t kPlaceBytesMax = 128u << 20;  // for pointers of deep documents with long keys

/// A mistake and its place. Thrown inside this file only: handlers of yaml-cpp return nothing.
struct Refusal {
  YAML::Mark mark;
  std::string what;
};

/// The size of a value with every alias expanded.
struct Weight {
  size_t nodes = 1;
  size_t bytes = 0;
};

struct Value {
  Json json;
  Weight weight;
  bool is_merge = false;  // the plain scalar <<
};

/// A mapping or sequence that is being read.
struct Frame {
  bool is_map = false;
  bool is_flow = false;  // written in brackets, where tabs may stand
  YAML::Mark mark;
  YAML::anchor_t anchor = 0;
  std::string pointer;
  Json container;
  Weight weight;
  // Members for a mapping:
  bool has_key = false;
  bool key_is_merge = false;
  std::string key;
  std::vector<Json> merges;  // the values of <<, weakest first
  size_t elements = 0;       // of a sequence: the number of elements
};

// yaml-cpp reads the escapes \N and \_ as single bytes, not as the characters U+0085 and U+00A0.
std::string WithoutBareBytes(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      AppendUtf8(whole, static_cast<unsigned char>(text.front()));
    } else {
      whole += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return whole;
}

/// Builds the tree from yaml-cpp's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(YamlDocument& document, std::string_view text)
      : document_(document),
        text_(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text),
        has_tab_(text.find('\t') != std::string_view::npos) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) {
      throw Refusal{mark, yaml_texts::SecondDocument()};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Place(mark, anchor, {nullptr, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CheckIndentation(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refusal{mark, yaml_texts::AliasInsideItself()};
    Count(mark, found->second.weight);
    Add(mark, found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    CheckIndentation(mark);
    last_is_quoted_ = tag == "!";
    last_scalar_ = mark;
    Place(mark, anchor, Typed(mark, tag, IsUtf8(text) ? text : WithoutBareBytes(text)));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    CheckTag(mark, tag, "seq");
    Open(mark, anchor, false, style == YAML::EmitterStyle::Flow);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    CheckTag(mark, tag, "map");
    Open(mark, anchor, true, style == YAML::EmitterStyle::Flow);
  }
  // yaml-cpp lets the end of the file close a quoted text. gcloud's reader rejects that.
  void CheckLastQuote() const {
    if (!last_is_quoted_ || last_scalar_.pos < 0) return;
    const size_t start = std::min(static_cast<size_t>(last_scalar_.pos), text_.size());
    if (IsQuoteClosed(text_.substr(start))) return;
    throw Refusal{last_scalar_, yaml_texts::QuoteNotClosed()};
  }

  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  static void CheckTag(const YAML::Mark& mark, const std::string& tag, std::string_view kind) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag == std::string(kTagPrefix) + std::string(kind)) return;
    throw Refusal{mark, yaml_texts::UnknownTag(tag)};
  }

  // yaml-cpp takes a tab before a value for a separator. gcloud's reader rejects it.
  void CheckIndentation(const YAML::Mark& mark) const {
    if (!has_tab_ || (!frames_.empty() && frames_.back().is_flow)) return;
    const int start = mark.pos - mark.column;
    if (start < 0 || static_cast<size_t>(start) > text_.size()) return;
    const auto column = static_cast<size_t>(mark.column);
    const std::string_view head = text_.substr(static_cast<size_t>(start), column);
    const size_t tab = head.find('\t');
    if (tab == std::string_view::npos || head.find_first_not_of(" \t") != std::string_view::npos) {
      return;
    }
    YAML::Mark place = mark;
    place.column = static_cast<int>(tab);
    throw Refusal{place, yaml_texts::TabInIndentation()};
  }

  Value Typed(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    const Weight weight{1, text.size()};
    if (tag == "!") return {text, weight};
    ScalarType type = ScalarType::kText;
    if (tag.empty() || tag == "?") {
      type = ScalarTypeOf(text);
    } else {
      static const std::map<std::string, ScalarType, std::less<>> kTags = {
          {"str", ScalarType::kText}, {"null", ScalarType::kNull},   {"bool", ScalarType::kBool},
          {"int", ScalarType::kInt},  {"float", ScalarType::kFloat}, {"merge", ScalarType::kMerge}};
      const bool standard = tag.starts_with(kTagPrefix);
      const auto found = kTags.find(standard ? tag.substr(kTagPrefix.size()) : "");
      if (!standard || found == kTags.end()) {
        throw Refusal{mark, yaml_texts::UnknownTag(tag)};
      }
      type = found->second;
    }
    if (type == ScalarType::kValue) throw Refusal{mark, yaml_texts::BareEquals()};
    if (type == ScalarType::kTimestamp) document_.dates.push_back(NextPointer());
    std::optional<Json> json = ScalarAs(type, text);
    if (!json) throw Refusal{mark, yaml_texts::ValueNotOfTag(text)};
    return {std::move(*json), weight, type == ScalarType::kMerge};
  }

  // Counts a node with its aliases expanded, checks the limits, and adds the node to its container.
  void Place(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    Count(mark, value.weight);
    Anchor(mark, anchor, value);
    Add(mark, std::move(value));
  }

  // Keeps a copy of the value for its aliases. The copy counts, because anchors inside anchors
  // would multiply.
  void Anchor(const YAML::Mark& mark, YAML::anchor_t anchor, const Value& value) {
    if (anchor == 0) return;
    Count(mark, value.weight);
    anchors_[anchor] = value;
  }

  void Count(const YAML::Mark& mark, const Weight& weight) {
    total_.nodes += weight.nodes;
    total_.bytes += weight.bytes;
    if (total_.nodes <= kYamlNodesMax && total_.bytes <= kYamlBytesMax) return;
    throw Refusal{mark, yaml_texts::TooLargeWithAliases(kYamlNodesMax, kYamlBytesMax)};
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_map, bool is_flow) {
    CheckIndentation(mark);
    Count(mark, {});
    if (frames_.size() >= static_cast<size_t>(kYamlDepthMax)) {
      throw Refusal{mark, yaml_texts::NestedTooDeep(kYamlDepthMax)};
    }
    if (!frames_.empty() && frames_.back().is_map && !frames_.back().has_key) {
      throw Refusal{mark, yaml_texts::KeyNotText()};
    }
    Frame frame;
    frame.is_map = is_map;
    frame.is_flow = is_flow;
    frame.mark = mark;
    frame.anchor = anchor;
    frame.pointer = NextPointer();
    frame.container = is_map ? Json::object() : Json::array();
    frames_.push_back(std::move(frame));
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frame.merges.empty()) frame.container = Merged(frame);
    Value value{std::move(frame.container), frame.weight};
    Anchor(frame.mark, frame.anchor, value);
    Add(frame.mark, std::move(value));
  }

  // Merges the members of the values of <<, then the mapping's own members, which win.
  static Json Merged(const Frame& frame) {
    Json merged = Json::object();
    for (const Json& merge : frame.merges) merged.update(merge);
    merged.update(frame.container);
    return merged;
  }

  std::string NextPointer() const {
    if (frames_.empty()) return "";
    const Frame& frame = frames_.back();
    return frame.pointer + (frame.is_map ? PointerStep(frame.has_key ? frame.key : "")
                                         : "/" + std::to_string(frame.elements));
  }

  void Note(const YAML::Mark& mark) {
    std::string pointer = NextPointer();
    place_bytes_ += pointer.size();
    if (place_bytes_ > kPlaceBytesMax) return;
    document_.places.emplace(std::move(pointer), caip::Place{mark.line + 1, mark.column + 1});
  }

  void Add(const YAML::Mark& mark, Value value) {
    if (frames_.empty()) {
      Note(mark);
      document_.value = std::move(value.json);
      return;
    }
    Frame& frame = frames_.back();
    frame.weight.nodes += value.weight.nodes;
    frame.weight.bytes += value.weight.bytes;
    if (!frame.is_map) {
      Note(mark);
      frame.container.push_back(std::move(value.json));
      ++frame.elements;
    } else if (!frame.has_key) {
      AddKey(mark, frame, value);
    } else {
      AddMember(mark, frame, std::move(value));
    }
  }

  void AddKey(const YAML::Mark& mark, Frame& frame, const Value& value) {
    if (value.json.is_structured()) {
      throw Refusal{mark, yaml_texts::KeyNotText()};
    }
    frame.key = value.json.is_string() ? value.json.get<std::string>() : CompactJson(value.json);
    frame.key_is_merge = value.is_merge;
    frame.has_key = true;
    std::string pointer = NextPointer();
    place_bytes_ += pointer.size();
    if (place_bytes_ > kPlaceBytesMax) return;
    document_.key_places.emplace(std::move(pointer), caip::Place{mark.line + 1, mark.column + 1});
  }

  void AddMember(const YAML::Mark& mark, Frame& frame, Value value) {
    if (frame.key_is_merge) {
      AddMerge(mark, frame, value.json);
    } else if (!frame.container.contains(frame.key)) {
      Note(mark);
      frame.container[frame.key] = std::move(value.json);
    } else {
      document_.duplicates.push_back(NextPointer());
      document_.duplicate_places.push_back({mark.line + 1, mark.column + 1});
    }
    frame.has_key = false;
  }

  static void AddMerge(const YAML::Mark& mark, Frame& frame, const Json& value) {
    if (value.is_object()) {
      frame.merges.push_back(value);
      return;
    }
    const bool maps = value.is_array() && std::all_of(value.begin(), value.end(),
                                                      [](const Json& e) { return e.is_object(); });
    if (!maps) throw Refusal{mark, yaml_texts::MergeNotAMapping()};
    for (auto it = value.rbegin(); it != value.rend(); ++it) frame.merges.push_back(*it);
  }

  YamlDocument& document_;
  std::string_view text_;
  bool has_tab_;
  bool last_is_quoted_ = false;
  YAML::Mark last_scalar_;
  bool started_ = false;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
  Weight total_;
  size_t place_bytes_ = 0;
};

/// Lets yaml-cpp read a text without a copy of it.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // NOLINT: never written through
    setg(begin, begin, begin + text.size());
  }
};

// "%YAML 1.2" types scalars differently, so it is rejected.
bool AsksForOtherVersion(std::string_view text) {
  return text.starts_with("%YAML") && !text.starts_with("%YAML 1.1");
}

// Joins the two \u escapes by which JSON writes a character beyond the basic plane, because
// yaml-cpp rejects them.
std::string WithoutSurrogates(std::string_view text) {
  std::string joined;
  const auto unit = [&](size_t at) -> unsigned {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return 0;
    unsigned value = 0;
    for (char c : text.substr(at + 2, 4)) {
      const char low = static_cast<char>(c | 0x20);
      value = value * 16 + static_cast<unsigned>(low >= 'a' ? low - 'a' + 10 : c - '0');
    }
    return value;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned high = unit(i);
    const unsigned low = unit(i + 6);
    if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      char escape[16];
      const unsigned character = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
      std::snprintf(escape, sizeof escape, "\\U%08x", character);
      joined += escape;
      i += 11;
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) joined += text[i++];
      joined += text[i];
    }
  }
  return joined;
}

}  // namespace

Result<YamlDocument> ParseYaml(std::string_view text, std::string_view name) {
  if (text.size() > kYamlBytesMax) {
    return errors::YamlTooLarge(name, kYamlBytesMax);
  }
  RETURN_IF_ERROR(CheckYamlCharacters(text, name));
  if (AsksForOtherVersion(text)) {
    return YamlError(text, name, 0, 0, yaml_texts::OtherVersion());
  }
  std::string joined;
  if (text.find("\\u") != std::string_view::npos && ParseJson(text).ok()) {
    joined = WithoutSurrogates(text);
    text = joined;
  }
  YamlDocument document;
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder(document, text);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.CheckLastQuote();
  } catch (const Refusal& refusal) {
    return YamlError(text, name, refusal.mark.line, refusal.mark.column, refusal.what);
  } catch (const YAML::Exception& error) {
    return yaml_texts::ParserError(text, name, {error.mark.line, error.mark.column}, error.msg);
  }
  return document;
}

}  // namespace caip
