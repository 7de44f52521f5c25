#include "conformance/format/received_json.h"

#include <nlohmann/json.hpp>

namespace conform {

Json ParseReceived(const std::string& text) {
  bool is_too_deep = false;
  Json parsed = Json::parse(
      text,
      [&](int level, Json::parse_event_t, const Json&) {
        is_too_deep = is_too_deep || level >= kLevelsMax;
        return !is_too_deep;
      },
      /*allow_exceptions=*/false);
  return is_too_deep ? Json(Json::value_t::discarded) : parsed;
}

}  // namespace conform
