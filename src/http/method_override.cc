#include "http/method_override.h"

#include <algorithm>

#include "base/text.h"
#include "http/target.h"

namespace caip::http {
namespace {

constexpr char kHeader[] = "X-HTTP-Method-Override";
constexpr std::string_view kMethods[] = {"GET", "PUT", "PATCH", "DELETE"};
constexpr size_t kFormBytesMax = 1 << 20;

bool IsForm(const Request& request) {
  const std::string type = LowerCase(request.headers.Get("Content-Type"));
  return type.starts_with("application/x-www-form-urlencoded");
}

}  // namespace

std::optional<Request> Overridden(const Request& request) {
  if (request.method != "POST" || !request.headers.Has(kHeader)) return std::nullopt;
  const std::string method = UpperCase(Trim(request.headers.Get(kHeader)));
  if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods)) {
    return std::nullopt;
  }
  Request meant = request;
  meant.method = method;
  if (method == "GET" && IsForm(request)) {
    const auto form = request.ReadBody(kFormBytesMax);
    if (!form.ok()) return std::nullopt;
    const auto target = ParseTarget("/?" + *form);
    if (!target) return std::nullopt;
    meant.query.insert(meant.query.end(), target->query.begin(), target->query.end());
  }
  return meant;
}

}  // namespace caip::http
