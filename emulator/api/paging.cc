#include "emulator/api/paging.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr std::string_view kTokenMark = "caip:";  // tells our tokens from a client's typing

}  // namespace

Result<Page> ReadPage(const http::Request& request) {
  Page page;
  if (const std::string_view text = request.Query("pageSize"); !text.empty()) {
    long long size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc() || end != text.data() + text.size()) {
      return google::errors::NotTheMessage(
          {google::errors::InvalidValue("page_size", "TYPE_INT32", '"' + std::string(text) + '"')});
    }
    if (size < 0) return ml::errors::PageSizeNegative(size);
    if (size > 0) page.size = std::min<size_t>(static_cast<size_t>(size), kPageSizeMax);
  }
  if (const std::string_view token = request.Query("pageToken"); !token.empty()) {
    const auto text = FromBase64(token);
    if (!text || !text->starts_with(kTokenMark)) return ml::errors::PageTokenBroken();
    page.after = text->substr(kTokenMark.size());
  }
  return page;
}

std::string PageToken(const std::string& last) {
  // The alphabet that needs no escaping in a URL; FromBase64 reads both.
  return ReplaceAll(ReplaceAll(Base64(std::string(kTokenMark) + last), "+", "-"), "/", "_");
}

}  // namespace caip::api
