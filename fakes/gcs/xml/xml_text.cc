#include "fakes/gcs/xml/xml_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_texts.h"

namespace caip::gcs {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool IsNameByte(char c) {
  return !IsBlank(c) && c != '>' && c != '/' && c != '=' && c != '<' && c != '&' && c != '"' &&
         c != '\'' && c != '\0';
}

// Validates a name without its namespace prefix. With another colon, or a first byte such as '!',
// the element would have another meaning when it is written.
bool IsLocalName(std::string_view name) {
  if (name.empty() || name.find(':') != std::string_view::npos) return false;
  const char first = name.front();
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' ||
         static_cast<unsigned char>(first) >= 0x80;
}

// The characters that XML 1.0 can hold (section 2.2).
bool IsCharacter(uint32_t point) {
  if (point < 0x20) return point == '\t' || point == '\n' || point == '\r';
  return point < 0xd800 || (point >= 0xe000 && point < 0xfffe) ||
         (point >= 0x10000 && point <= 0x10ffff);
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && !IsCharacter(byte);
}

// U+FFFE and U+FFFF, the characters above U+001F that XML 1.0 cannot hold.
bool IsNoncharacter(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

// The position of the first character that XML cannot hold; npos: there is none.
size_t FindForbidden(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsControl(text[i]) || IsNoncharacter(text.substr(i))) return i;
  }
  return std::string_view::npos;
}

// Reads from left to right. `at_` is the current position.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<XmlElement> Document() {
    if (const size_t at = FindForbidden(text_); at != std::string_view::npos) {
      at_ = at;
      return Broken(xml_texts::kForbidden);
    }
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    RETURN_IF_ERROR(SkipBetween());
    if (!IsNext("<")) return Broken(xml_texts::kNoElement);
    ASSIGN_OR_RETURN(XmlElement root, Element(0));
    RETURN_IF_ERROR(SkipBetween());
    if (at_ != text_.size()) return Broken(xml_texts::kSecondRoot);
    return root;
  }

 private:
  Error Broken(std::string_view why) const {
    return xml_errors::MalformedXml(std::string(why) + " (at byte " + std::to_string(at_ + 1) +
                                    ")");
  }
  bool IsNext(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  bool Take(std::string_view word) {
    if (!IsNext(word)) return false;
    at_ += word.size();
    return true;
  }
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  Status SkipPast(std::string_view end) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return Broken(xml_texts::Expected(end));
    at_ = found + end.size();
    return Ok{};
  }
  // Skips a comment or processing instruction. False: neither is next.
  Result<bool> SkipComment() {
    const bool is_comment = Take("<!--");
    if (!is_comment && IsNext("<!")) return Broken(xml_texts::kDocumentType);
    if (!is_comment && !Take("<?")) return false;
    RETURN_IF_ERROR(SkipPast(is_comment ? "-->" : "?>"));
    return true;
  }
  // Skips blanks, comments and processing instructions around the root element.
  Status SkipBetween() {
    bool skipped = true;
    while (skipped) {
      SkipBlanks();
      ASSIGN_OR_RETURN(skipped, SkipComment());
    }
    return Ok{};
  }

  std::string Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Reads name="value" ... up to "/>" (true) or ">" (false).
  Result<bool> Attributes(XmlElement* element) {
    while (true) {
      SkipBlanks();
      if (Take("/>")) return true;
      if (Take(">")) return false;
      std::string name = Name();
      SkipBlanks();
      if (name.empty() || !Take("=")) return Broken(xml_texts::kNoAttribute);
      SkipBlanks();
      const char quote = at_ < text_.size() ? text_[at_] : '\0';
      if (quote != '"' && quote != '\'') return Broken(xml_texts::kNoQuote);
      const size_t end = text_.find(quote, ++at_);
      if (end == std::string_view::npos) return Broken(xml_texts::kValueOpen);
      ASSIGN_OR_RETURN(std::string value, Unescaped(text_.substr(at_, end - at_)));
      at_ = end + 1;
      element->attributes.emplace_back(std::move(name), std::move(value));
    }
  }

  Result<XmlElement> Element(int depth) {
    if (depth >= kXmlDepthMax) return Broken(xml_texts::kTooDeep);
    ++at_;
    const std::string full_name = Name();
    const std::string local_name = full_name.substr(full_name.find(':') + 1);
    if (!IsLocalName(local_name)) return Broken(xml_texts::kNoElementName);
    XmlElement element(local_name);
    ASSIGN_OR_RETURN(const bool empty, Attributes(&element));
    if (empty) return element;
    std::string text;
    while (!IsNext("</")) {
      if (at_ >= text_.size()) return Broken(xml_texts::ElementOpen(full_name));
      RETURN_IF_ERROR(Piece(depth, &element, &text));
    }
    at_ += 2;
    if (Name() != full_name) return Broken(xml_texts::Expected("</" + full_name + ">"));
    SkipBlanks();
    if (!Take(">")) return Broken(xml_texts::Expected(">"));
    element.text = element.children.empty() ? std::move(text) : std::string(Trim(text));
    return element;
  }

  // Reads text or a child, or skips a comment or processing instruction.
  Status Piece(int depth, XmlElement* element, std::string* text) {
    if (Take("<![CDATA[")) {
      const size_t begin = at_;
      RETURN_IF_ERROR(SkipPast("]]>"));
      text->append(text_.substr(begin, at_ - begin - 3));
      return Ok{};
    }
    ASSIGN_OR_RETURN(const bool skipped, SkipComment());
    if (skipped) return Ok{};
    if (IsNext("<")) {
      ASSIGN_OR_RETURN(XmlElement child, Element(depth + 1));
      element->children.push_back(std::move(child));
      return Ok{};
    }
    const size_t end = std::min(text_.find('<', at_), text_.size());
    ASSIGN_OR_RETURN(const std::string plain, Unescaped(text_.substr(at_, end - at_)));
    *text += plain;
    at_ = end;
    return Ok{};
  }

  Result<std::string> Unescaped(std::string_view raw) const {
    std::string text;
    while (true) {
      const size_t ampersand = raw.find('&');
      text.append(raw.substr(0, ampersand));
      if (ampersand == std::string_view::npos) return text;
      const size_t end = raw.find(';', ampersand);
      if (end == std::string_view::npos) return Broken(xml_texts::kReferenceOpen);
      if (!AppendReference(raw.substr(ampersand + 1, end - ampersand - 1), &text)) {
        return Broken(xml_texts::kUnknownEntity);
      }
      raw.remove_prefix(end + 1);
    }
  }

  static bool AppendReference(std::string_view name, std::string* text) {
    constexpr std::pair<std::string_view, char> kNamed[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [known, character] : kNamed) {
      if (name == known) {
        *text += character;
        return true;
      }
    }
    if (!name.starts_with('#')) return false;
    const bool hex = name.starts_with("#x");
    name.remove_prefix(hex ? 2 : 1);
    uint32_t point = 0;
    const auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), point, hex ? 16 : 10);
    if (error != std::errc() || end != name.data() + name.size()) return false;
    if (!IsCharacter(point)) return false;
    AppendUtf8(*text, point);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void AppendEscaped(std::string_view raw, bool is_utf8, std::string* text) {
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '<') {
      *text += "&lt;";
    } else if (c == '>') {
      *text += "&gt;";
    } else if (c == '&') {
      *text += "&amp;";
    } else if (c == '"') {
      *text += "&quot;";
    } else if (c == '\r') {
      *text += "&#13;";
    } else if (IsControl(c) || (byte >= 0x80 && !is_utf8)) {
      *text += '?';
    } else if (byte == 0xef && IsNoncharacter(raw.substr(i))) {
      *text += '?';
      i += 2;
    } else {
      *text += c;
    }
  }
}

void Append(const XmlElement& element, std::string* text) {
  *text += "<" + element.name;
  for (const auto& [name, value] : element.attributes) {
    *text += " " + name + "=\"";
    AppendEscaped(value, IsUtf8(value), text);
    *text += '"';
  }
  if (element.text.empty() && element.children.empty()) {
    *text += "/>";
    return;
  }
  *text += '>';
  AppendEscaped(element.text, IsUtf8(element.text), text);
  for (const XmlElement& child : element.children) Append(child, text);
  *text += "</" + element.name + ">";
}

}  // namespace

const XmlElement* XmlElement::Child(std::string_view child) const {
  for (const XmlElement& element : children) {
    if (element.name == child) return &element;
  }
  return nullptr;
}

std::string XmlElement::TextOf(std::string_view child) const {
  const XmlElement* element = Child(child);
  return element ? element->text : "";
}

std::string XmlElement::WordOf(std::string_view child) const {
  const XmlElement* element = Child(child);
  return element ? std::string(Trim(element->text)) : "";
}

std::vector<const XmlElement*> XmlElement::All(std::string_view child) const {
  std::vector<const XmlElement*> all;
  for (const XmlElement& element : children) {
    if (element.name == child) all.push_back(&element);
  }
  return all;
}

XmlElement& XmlElement::Add(std::string child, std::string content) {
  return children.emplace_back(std::move(child), std::move(content));
}

XmlElement& XmlElement::Add(XmlElement child) { return children.emplace_back(std::move(child)); }

Result<XmlElement> ParseXml(std::string_view text) { return Parser(text).Document(); }

std::string XmlDocument(const XmlElement& root) {
  std::string text = "<?xml version='1.0' encoding='UTF-8'?>";
  Append(root, &text);
  return text;
}

}  // namespace caip::gcs
