#include "emulator/api/paging.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr size_t kItemsReadMax = 4096;            // by one call
constexpr std::string_view kTokenMark = "caip:";  // marks the tokens of PageToken

// Adds the items that match, and moves `last` to the last item that the page covers. True if the
// page is full and another item matches.
bool FillPage(std::vector<PageItem> read, size_t size, Json& items, std::string& last) {
  for (PageItem& item : read) {
    if (item.json) {
      if (items.size() == size) return true;
      items.push_back(*std::move(item.json));
    }
    last = std::move(item.name);
  }
  return false;
}

}  // namespace

Result<Page> ReadPage(const http::Request& request, const PagingRules& rules) {
  const auto negative = rules.negative_size ? rules.negative_size : ml::errors::PageSizeNegative;
  const auto broken = rules.broken_token ? rules.broken_token : ml::errors::PageTokenBroken;
  Page page{.size = rules.size_default};
  if (const std::string_view text = request.Query("pageSize"); !text.empty()) {
    long long size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc() || end != text.data() + text.size()) {
      return google::errors::NotTheMessage(
          {google::errors::InvalidValue("page_size", "TYPE_INT32", '"' + std::string(text) + '"')});
    }
    if (size < 0) return negative(size);
    if (size > 0) page.size = std::min<size_t>(static_cast<size_t>(size), kPageSizeMax);
  }
  if (const std::string_view token = request.Query("pageToken"); !token.empty()) {
    const auto text = FromBase64(token);
    if (!text || !text->starts_with(kTokenMark)) return broken();
    page.after = text->substr(kTokenMark.size());
  }
  return page;
}

std::string PageToken(const std::string& last) {
  return Base64Url(std::string(kTokenMark) + last, true);
}

std::string PlaceInList(const run::Job& job) {
  const Instant created = job.create_time.value_or(Instant{});
  return std::to_string(created.time_since_epoch().count()) + "/" + job.key.job_id;
}

bool ContinueAfter(const std::string& place, engine::JobQuery& query) {
  if (place.empty()) return true;
  const size_t slash = place.find('/');
  if (slash == std::string::npos) return false;
  int64_t count = 0;
  const auto [end, code] = std::from_chars(place.data(), place.data() + slash, count);
  if (code != std::errc() || end != place.data() + slash) return false;
  query.before_id = place.substr(slash + 1);
  query.before_time = Instant(Duration(count));
  return !query.before_id.empty();
}

Result<Json> AnswerPage(const Page& page, std::string_view list_name, size_t batch,
                        const ReadItems& read) {
  Json items = Json::array();
  std::string last = page.after;
  bool more = false;
  for (size_t count = 0; !more;) {
    ASSIGN_OR_RETURN(std::vector<PageItem> found, read(last, batch));
    const bool at_end = found.size() < batch;
    count += found.size();
    more = FillPage(std::move(found), page.size, items, last);
    if (at_end) break;
    more = more || count >= kItemsReadMax;
  }
  Json answer = Json::object();
  if (!items.empty()) answer[std::string(list_name)] = std::move(items);
  if (more) answer["nextPageToken"] = PageToken(last);
  return answer;
}

}  // namespace caip::api
