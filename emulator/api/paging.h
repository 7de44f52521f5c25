#pragma once
// pageSize and pageToken of lists (docs/service/api.md, section 3).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/ports.h"
#include "http/message.h"

namespace caip::api {

inline constexpr size_t kPageSizeDefault = 20;
inline constexpr size_t kPageSizeMax = 100;

struct Page {
  size_t size = kPageSizeDefault;
  std::string after = {};  // the last item of the previous page; "": the first page
};

/// How an API pages its lists, and the errors that it answers.
struct PagingRules {
  size_t size_default = kPageSizeDefault;
  Error (*negative_size)(long long) = nullptr;  // nullptr: those of ml
  Error (*broken_token)() = nullptr;
};

/// A size above the maximum counts as the maximum. kInvalidArgument: a negative size, a size that
/// is not a number, or a token that PageToken did not make.
Result<Page> ReadPage(const http::Request& request, const PagingRules& rules = {});
/// Makes the token of the page after `last`, which is opaque to clients.
std::string PageToken(const std::string& last);

/// The name of a job in a list of jobs: it holds the job's place, also after its removal.
std::string PlaceInList(const run::Job& job);
/// Makes the query continue after that place; "": from the start. False: the text has no place.
bool ContinueAfter(const std::string& place, engine::JobQuery& query);

/// An item of a list. Its name identifies it within the list.
struct PageItem {
  std::string name;
  std::optional<Json> json;  // nullopt: a filter leaves the item out
};

/// Reads at most `count` items after the item `after` ("": from the start), in the order of the
/// list.
using ReadItems =
    std::function<Result<std::vector<PageItem>>(const std::string& after, size_t count)>;

/// Answers one page of a list: {LIST_NAME: [items], nextPageToken}. Reads `batch` items at a time.
/// Stops after some thousand items, so that a filter with few matches does not make the call slow:
/// then the page may be short, even empty, but has a token.
Result<Json> AnswerPage(const Page& page, std::string_view list_name, size_t batch,
                        const ReadItems& read);

}  // namespace caip::api
