#include "emulator/api/body.h"

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/errors.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr size_t kBodyBytesMax = 16u << 20;

}  // namespace

Result<std::string> ReadBodyText(const http::Request& request) {
  auto text = request.ReadBody(kBodyBytesMax);
  if (!text.ok() && text.error().code == Code::kResourceExhausted) {
    return errors::BodyTooLarge(kBodyBytesMax);
  }
  return text;
}

Result<Json> ReadJsonObject(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, ReadBodyText(request));
  if (Trim(text).empty()) return Json::object();
  auto body = ParseJson(text);
  if (!body.ok()) return google::errors::BodyMalformed(body.error());
  if (!body->is_object()) return errors::BodyNoObject();
  return body;
}

}  // namespace caip::api
