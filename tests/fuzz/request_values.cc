// The first byte of an input selects a kind of value of a request: ranges, tokens, dates, patterns,
// policies, faults, destinations of tunnels, proxies, codings. Any text is such a value, or is
// refused. Values fit what they are about.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "fakes/gcs/service/uploads.h"
#include "fakes/gcs/signing/post_policy.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/glob.h"
#include "fakes/gcs/store/listing.h"
#include "fakes/gcs/wire/request_headers.h"
#include "google/gcs_uri.h"
#include "http/compression.h"
#include "http/connection/tunnel.h"
#include "http/message.h"

namespace {

using namespace caip;
using namespace caip::gcs;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckRange(std::string_view text) {
  constexpr uint64_t kSize = 1000;
  const RequestedRange range = ParseRange(text, kSize);
  if (range.kind != RequestedRange::Kind::kPart) return;
  Require(range.length > 0 && range.first < kSize && range.length <= kSize - range.first);
}

void CheckContentRange(std::string_view text) {
  const auto range = ParseContentRange(text);
  if (!range) return;
  Require(!range->last || (range->first && *range->first <= *range->last));
  Require(!range->last || !range->total || *range->last < *range->total);
}

void CheckUploadId(std::string_view text) {
  const auto plan = PlanOfUploadId(text);
  if (plan) Require(PlanOfUploadId(UploadIdOf(*plan, "0")).has_value());
  // the plan inside the id, which needs a seal that no input has
  UploadPlan made;
  made.info.bucket = "bkt";
  made.info.name = std::string(text);
  const auto again = PlanOfUploadId(UploadIdOf(made, "0"));
  Require(again && again->info.bucket == "bkt");
}

void CheckGlob(std::string_view text) {
  const size_t middle = text.size() / 2;
  const std::string_view pattern = text.substr(0, middle);
  if (Glob::Problem(pattern)) return;
  const Glob glob(pattern);
  const std::string_view name = text.substr(middle);
  if (!IsUtf8(name)) return;  // which all names of objects are
  if (glob.Matches(name)) Require(name.starts_with(glob.literal_prefix()));
}

void CheckUri(std::string_view text) {
  const auto uri = google::ParseGcsUri(text);
  if (!uri.ok()) return Require(!uri.error().message.empty());
  Require(google::IsBucketName(uri->bucket) && google::IsObjectName(uri->object));
}

void CheckDestination(std::string_view text) {
  const auto destination = http::ParseDestination(text);
  if (!destination) return;
  Require(!destination->host.empty());
  const bool is_ipv6 = destination->host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + destination->host + "]" : destination->host;
  const auto again = http::ParseDestination(host + ":" + std::to_string(destination->port));
  Require(again && again->host == destination->host && again->port == destination->port);
}

void CheckProxy(std::string_view text) {
  const auto proxy = http::ParseProxyAddress(text);
  if (proxy) Require(!proxy->host.empty() && !proxy->port.empty());
  const size_t middle = text.size() / 2;
  (void)http::IsProxyExempt(text.substr(0, middle), text.substr(middle));
  Require(http::IsProxyExempt(text, "*"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 13) {
    case 0:
      CheckRange(text);
      break;
    case 1:
      CheckContentRange(text);
      break;
    case 2:
      CheckUploadId(text);
      break;
    case 3:
      CheckGlob(text);
      break;
    case 4:
      CheckUri(text);
      break;
    case 5:
      (void)ParseHttpDate(text);
      break;
    case 6:
      (void)ParsePageToken(std::string(text)).ok();
      break;
    case 7:
      (void)ParsePostPolicy(text).ok();
      break;
    case 8:
      (void)ParseRfc3339(text);
      break;
    case 9:
      (void)http::ParseTarget(text);
      break;
    case 10:
      CheckDestination(text);
      break;
    case 11:
      CheckProxy(text);
      break;
    default:
      (void)http::AcceptsCoding(text, "gzip");
      (void)ParseFault(text);
      break;
  }
  return 0;
}
