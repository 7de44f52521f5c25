#include "emulator/cli/service_error.h"

#include "base/json.h"
#include "emulator/cli/yaml_text.h"

namespace caip::cli {

std::string ServiceErrorText(const http::ClientResponse& response, std::string_view project) {
  const Result<Json> body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  if (!error || !error->is_object()) {
    return "HTTP status " + std::to_string(response.status) + ": " + response.body;
  }
  const std::string message = StringOr(*error, "message");
  std::string text = response.status == 409
                         ? "Resource in projects [" + std::string(project) +
                               "] is the subject of a conflict: " + message
                         : StringOr(*error, "status", "UNKNOWN") + ": " + message;
  const Json* details = Member(*error, "details");
  if (details && details->is_array() && !details->empty()) text += "\n" + YamlText(*details);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace caip::cli
