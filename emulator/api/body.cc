#include "emulator/api/body.h"

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/errors.h"
#include "spec/errors.h"

namespace caip::api {
namespace {

constexpr size_t kBodyBytesMax = 16u << 20;

}  // namespace

Result<Json> ReadJsonObject(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kBodyBytesMax));
  if (Trim(text).empty()) return Json::object();
  auto body = ParseJson(text);
  if (!body.ok()) return spec::errors::BodyMalformed(body.error());
  if (!body->is_object()) return errors::BodyNoObject();
  return body;
}

}  // namespace caip::api
