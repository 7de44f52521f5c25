#pragma once
// pageSize and pageToken of the ml API (docs/service/api.md, section 3).

#include <string>

#include "base/result.h"
#include "http/message.h"

namespace caip::api {

inline constexpr size_t kPageSizeDefault = 20;
inline constexpr size_t kPageSizeMax = 100;

struct Page {
  size_t size = kPageSizeDefault;
  std::string after;  // the last item of the page before; "" from the start
};

/// Above the maximum counts as the maximum; negative or no number, and a token that is none of
/// ours, are kInvalidArgument.
Result<Page> ReadPage(const http::Request& request);
/// Opaque for clients.
std::string PageToken(const std::string& last);

}  // namespace caip::api
