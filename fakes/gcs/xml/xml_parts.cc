#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kXmlBytesMax = 4 << 20;  // 10,000 parts or keys, and room

}  // namespace

http::Response XmlResponse(const XmlElement& root, int status) {
  http::Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  response.body = XmlDocument(root);
  return response;
}

XmlElement XmlRoot(const std::string& name, const std::string& xmlns) {
  XmlElement root(name);
  root.attributes.emplace_back("xmlns", xmlns);
  return root;
}

Result<XmlElement> XmlBody(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kXmlBytesMax));
  if (Trim(text).empty()) return XmlElement();
  return ParseXml(text);
}

http::Response Nothing(int status) {
  http::Response response;
  response.status = status;
  return response;
}

http::Response Written(const Json& object) {
  http::Response response;
  AddWriteHeaders(object, &response.headers);
  response.headers.Add("Content-Type", "text/html; charset=UTF-8");
  return response;
}

http::Response MalformedXml(const Error& error) {
  return ToResponse(xml_errors::MalformedXml(error.message));
}

std::string BoundaryFor(const XmlCall& call) { return "caip-" + call.services.uploads.NewId(); }

}  // namespace caip::gcs
