// The first byte of an input selects a kind of field mask. Any text is a mask or an error. A mask
// selects nothing that the message does not have, and nothing more when it is applied again. An
// update changes nothing more when it is applied again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/api/vertex/read_mask.h"
#include "emulator/front/partial_response.h"
#include "fakes/logging/api/update_mask.h"

namespace {

using namespace caip;

const Json& AMessage() {
  static const Json message = {
      {"jobs",
       {{{"jobId", "a"},
         {"state", "QUEUED"},
         {"labels", {{"team", "x"}, {"a.b/c", "y"}}},
         {"trainingInput", {{"args", {"--steps", "10"}}, {"region", nullptr}, {"count", 5}}}},
        Json::object()}},
      {"displayName", "census"},
      {"jobSpec",
       {{"workerPoolSpecs",
         {{{"machineSpec", {{"machineType", "n1-standard-4"}}}}, Json::object()}},
        {"scheduling", {{"timeout", "3600s"}}}}},
      {"nextPageToken", "t"}};
  return message;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

// Whether `part` has only what `whole` has. A list may have fewer elements.
bool IsWithin(const Json& part, const Json& whole) {
  if (part.is_object() && whole.is_object()) {
    for (const auto& [name, value] : part.items()) {
      const Json* of = Member(whole, name);
      if (!of || !IsWithin(value, *of)) return false;
    }
    return true;
  }
  if (part.is_array() && whole.is_array()) {
    if (part.size() > whole.size()) return false;
    size_t at = 0;
    for (const Json& element : part) {
      while (at < whole.size() && !IsWithin(element, whole[at])) ++at;
      if (at++ >= whole.size()) return false;
    }
    return true;
  }
  return part == whole;
}

template <typename Mask>
void CheckMask(const Result<Mask>& mask) {
  if (!mask.ok()) {
    Require(mask.error().code == Code::kInvalidArgument && !mask.error().message.empty());
    return;
  }
  const Json selected = mask->Of(AMessage());
  Require(IsWithin(selected, AMessage()));
  Require(mask->Of(selected) == selected);
}

void CheckFields(std::string_view text) {
  const auto fields = front::FieldSelection::Parse(text);
  CheckMask(fields);
  if (!fields.ok()) return;
  const Status known = fields->CheckAgainst(api::ApiDescription::Ml().schemas(),
                                            "GoogleCloudMlV1__ListJobsResponse");
  Require(known.ok() || !known.error().message.empty());
}

void CheckUpdate(std::string_view text) {
  const Json present = {{"name", "s"},
                        {"filter", "severity>=ERROR"},
                        {"bigqueryOptions", {{"usePartitionedTables", true}}}};
  const Json given = {{"destination", "d"}, {"bigqueryOptions", {{"usePartitionedTables", false}}}};
  http::Request request;
  request.query = {{"updateMask", std::string(text)}};
  const auto mask = logging::UpdateMask::Read(request, logging::kSinkMembers, "Sink");
  if (!mask.ok()) {
    Require(mask.error().code == Code::kInvalidArgument && !mask.error().message.empty());
    return;
  }
  const Json changed = mask->Apply(present, given);
  Require(mask->Apply(changed, given) == changed);
  if (mask->is_empty()) Require(changed == present);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      CheckFields(text);
      break;
    case 2:
      CheckUpdate(text);
      break;
    default:
      CheckMask(api::ReadMask::Parse(text));
  }
  return 0;
}
