#include <charconv>

#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
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
  const auto text = request.ReadBody(kXmlBytesMax);
  if (!text.ok()) return xml_errors::MalformedXml(text.error().message);
  if (Trim(*text).empty()) return XmlElement();
  return ParseXml(*text);
}

http::Response EmptyResponse(int status) {
  http::Response response;
  response.status = status;
  return response;
}

http::Response WrittenResponse(const ObjectInfo& object) {
  http::Response response;
  AddWriteHeaders(object, &response.headers);
  response.headers.Add("Content-Type", "text/html; charset=UTF-8");
  return response;
}

std::optional<int> ParseCount(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<http::Response> AnswerUpload(
    const XmlCall& call, http::BodyReader& bytes, uint64_t offset,
    const std::function<Result<http::Response>(http::BodyReader& bytes)>& store) {
  http::Request request = call.request;
  request.body = &bytes;
  const auto render = [&](const Error& error) { return XmlErrorResponse(error, call.place); };
  return call.services.faults.Run(
      "storage.objects.insert", request, {FaultSite::Kind::kUpload, offset, false}, render,
      [&](const http::Request& limited) {
        auto stored = store(*limited.body);
        return stored.ok() ? std::move(*stored) : render(stored.error());
      });
}

}  // namespace caip::gcs
