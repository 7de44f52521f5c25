#pragma once
// What is wrong with an XML document: the sentences of xml_errors::MalformedXml.

#include <string>
#include <string_view>

namespace caip::gcs::xml_texts {

inline constexpr const char* kNoElement = "expected an element";
inline constexpr const char* kNoElementName = "expected an element's name";
inline constexpr const char* kNoAttribute = "expected an attribute";
inline constexpr const char* kNoQuote = "expected a quoted value";
inline constexpr const char* kValueOpen = "expected the end of a value";
inline constexpr const char* kTooDeep = "elements are nested too deep";
inline constexpr const char* kSecondRoot = "something follows the last element";
inline constexpr const char* kDocumentType = "document types are not supported";
inline constexpr const char* kForbidden = "XML cannot hold this character";
inline constexpr const char* kReferenceOpen = "expected ; after &";
inline constexpr const char* kUnknownEntity = "unknown entity";

inline std::string Expected(std::string_view sign) { return "expected " + std::string(sign); }

inline std::string ElementOpen(std::string_view name) {
  return "</" + std::string(name) + "> is missing";
}

}  // namespace caip::gcs::xml_texts
