// entries.list, entries.write and entries.tail.

#include <algorithm>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/logging/api/answer.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/log_names.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/api/written_entry.h"

namespace caip::logging {
namespace {

constexpr size_t kPageStandard = 50;
constexpr size_t kPageMax = 1000;
constexpr size_t kResourcesMax = 100;
constexpr std::chrono::milliseconds kTailBeat{1000};  // a blank tells whether the peer lives
constexpr std::chrono::hours kTailMax{1};             // of the service
constexpr Duration kLeapMin = std::chrono::milliseconds(100);
constexpr Duration kStreamLagMax = std::chrono::seconds(60);  // gcloud's is five
constexpr Duration kTailWindow = std::chrono::seconds(2);     // what comes late is put in its place
constexpr Duration kTailWindowMax = std::chrono::seconds(60);

// resourceNames, and projectIds as it was before.
Result<std::vector<std::string>> ParentsOf(const Json& body) {
  std::vector<std::string> names;
  for (const char* member : {"resourceNames", "projectIds"}) {
    const Json* list = Member(body, member);
    if (!list) continue;
    if (!list->is_array()) return errors::MemberMisfit(member, "a list of strings");
    for (const Json& name : *list) {
      if (!name.is_string()) return errors::MemberMisfit(member, "a list of strings");
      const bool is_id = member == std::string_view("projectIds");
      names.push_back((is_id ? "projects/" : "") + name.get<std::string>());
    }
  }
  if (names.empty()) return errors::MemberMissing("resource_names");
  if (names.size() > kResourcesMax) return errors::TooManyResources(names.size(), kResourcesMax);
  std::vector<std::string> parents;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const ListedResource resource, ParseListedResource(name));
    const bool is_new = std::find(parents.begin(), parents.end(), resource.parent) == parents.end();
    if (!resource.is_empty && is_new) parents.push_back(resource.parent);
  }
  return parents;
}

Result<bool> IsNewestFirst(const Json& body) {
  const std::string order = StringOr(body, "orderBy");
  const std::string_view trimmed = Trim(order);
  if (trimmed.empty() || trimmed == "timestamp" || trimmed == "timestamp asc") return false;
  if (trimmed == "timestamp desc") return true;
  return errors::OrderInvalid(order);
}

// What a token must have in common with the request it comes with.
std::string Fingerprint(const Json& body) {
  Json asked = body;
  asked.erase("pageToken");
  asked.erase("pageSize");
  return std::to_string(Fnv1a(CompactJson(asked)));
}

std::string PageToken(const EntryPosition& next, const Json& body) {
  return TokenText({{"time", next.time.time_since_epoch().count()},
                    {"id", next.insert_id},
                    {"source", next.source},
                    {"of", Fingerprint(body)}});
}

Result<std::optional<EntryPosition>> ReadPageToken(const Json& body) {
  const std::string text = StringOr(body, "pageToken");
  if (text.empty()) return std::optional<EntryPosition>();
  ASSIGN_OR_RETURN(const Json token, ReadToken(text));
  if (StringOr(token, "of") != Fingerprint(body)) return errors::PageTokenOfAnother();
  return std::optional<EntryPosition>({Instant(Duration(IntOr(token, "time", 0))),
                                       StringOr(token, "id"),
                                       static_cast<int>(IntOr(token, "source", 0))});
}

// A client that streams a job's log asks for entries before a few seconds ago, by its own clock.
// Where the service's clock has leapt ahead of that, it means a few seconds ago by the service's.
Filter ForServiceTime(const LoggingApi& api, const Filter& filter) {
  const Instant wall = api.wall.Now();
  const Duration ahead = api.clock.Now() - wall;
  if (ahead < kLeapMin) return filter;
  return filter.WithUpperTimes([=](Instant time) {
    return time <= wall && time > wall - kStreamLagMax ? time + ahead : time;
  });
}

// Remembers how far a client that streams a job's log has asked.
void PrepareForReader(const LoggingApi& api, const http::Request& request, ListQuery& query) {
  const std::string invocation = InvocationOf(request.headers.Get("User-Agent"));
  if (invocation.empty() || !EntryBounds::Of(query.filter).job_id) return;
  query.filter = ForServiceTime(api, query.filter);
  const EntryBounds bounds = EntryBounds::Of(query.filter);
  for (const std::string& parent : query.parents) {
    api.readers.Note(invocation, parent.substr(parent.find('/') + 1), *bounds.job_id, bounds.until);
  }
}

Result<Json> ListEntriesMethod(const LoggingApi& api, const http::Request& request) {
  ASSIGN_OR_RETURN(const Json given, ReadBody(request));
  ASSIGN_OR_RETURN(const Json body, OnlyMembers(given, {"resourceNames", "projectIds", "filter",
                                                        "orderBy", "pageSize", "pageToken"}));
  ListQuery query;
  ASSIGN_OR_RETURN(query.parents, ParentsOf(body));
  ASSIGN_OR_RETURN(query.newest_first, IsNewestFirst(body));
  ASSIGN_OR_RETURN(query.limit, PageSizeOf(IntOr(body, "pageSize", 0), kPageStandard, kPageMax));
  ASSIGN_OR_RETURN(query.filter, Filter::Parse(StringOr(body, "filter")));
  ASSIGN_OR_RETURN(query.after, ReadPageToken(body));
  PrepareForReader(api, request, query);
  ASSIGN_OR_RETURN(ListPage page, api.book.List(query));
  Json answer = Json::object();
  if (!page.entries.empty()) answer["entries"] = Json(std::move(page.entries));
  if (page.next) answer["nextPageToken"] = PageToken(*page.next, body);
  return answer;
}

struct WriteRequest {
  Json body;
  std::vector<WrittenEntry> entries;
  Json refused = Json::object();  // by index
  std::optional<Error> first_error;
};

Result<WriteRequest> ReadWriteRequest(const LoggingApi& api, const http::Request& request) {
  WriteRequest read;
  ASSIGN_OR_RETURN(const Json given, ReadBody(request));
  ASSIGN_OR_RETURN(read.body, OnlyMembers(given, {"logName", "resource", "labels", "entries",
                                                  "partialSuccess", "dryRun"}));
  WriteDefaults defaults;
  defaults.log_name = StringOr(read.body, "logName");
  defaults.resource = Member(read.body, "resource");
  defaults.labels = Member(read.body, "labels");
  defaults.now = api.clock.Now();
  defaults.new_insert_id = [&api] { return api.book.NewInsertId(); };
  const Json* entries = Member(read.body, "entries");
  if (!entries || !entries->is_array()) return errors::MemberMissing("entries");
  for (size_t i = 0; i < entries->size(); ++i) {
    auto entry = ReadWrittenEntry((*entries)[i], "entries[" + std::to_string(i) + "]", defaults);
    if (entry.ok()) {
      read.entries.push_back(std::move(entry).value());
      continue;
    }
    read.refused[std::to_string(i)] = {{"code", static_cast<int>(entry.error().code)},
                                       {"message", entry.error().message}};
    if (!read.first_error) read.first_error = entry.error();
  }
  return read;
}

bool IsSet(const Json& body, std::string_view name) {
  const Json* flag = Member(body, name);
  return flag && flag->is_boolean() && flag->get<bool>();
}

http::Response WriteEntriesMethod(const LoggingApi& api, const http::Request& request) {
  auto read = ReadWriteRequest(api, request);
  if (!read.ok()) return Answer(request, read.error());
  const bool is_partial = IsSet(read->body, "partialSuccess");
  if (read->first_error && !is_partial) return Answer(request, *read->first_error);
  if (!IsSet(read->body, "dryRun") && !read->entries.empty()) {
    if (const Status written = api.book.Write(std::move(read->entries)); !written.ok()) {
      return Answer(request, written.error());
    }
  }
  if (!read->first_error) return Answer(request, Json::object());
  return ErrorAnswer(
      *read->first_error,
      Json::array({{{"@type", "type.googleapis.com/google.logging.v2.WriteLogEntriesPartialErrors"},
                    {"logEntryErrors", read->refused}}}));
}

struct TailRequest {
  ListQuery query;
  Duration window = kTailWindow;
};

/// entries.tail as an array that grows: [{"entries":[...]},{"entries":[...]}, ...
class Tail {
 public:
  Tail(const std::shared_ptr<LoggingApi>& api, const TailRequest& request)
      : api_(api), query_(request.query), window_(request.window) {
    query_.limit = kPageMax;
    query_.after = EntryPosition{api->clock.Now(), "", 0};
  }

  void Run(const http::Response::Sink& sink) {
    const auto deadline = std::chrono::steady_clock::now() + kTailMax;
    uint64_t seen = 0;
    for (bool alive = sink("["); alive && std::chrono::steady_clock::now() < deadline;) {
      query_.until = api_->clock.Now() - window_;
      const auto page = api_->book.List(query_);
      if (!page.ok()) break;
      alive = sink(page->entries.empty() ? std::string("\n") : Part(page->entries));
      if (page->next) {
        query_.after = page->next;
      } else if (!page->entries.empty()) {
        Advance(page->entries.back());
      }
      if (!page->next) seen = api_->book.WaitForChange(seen, kTailBeat);
    }
    sink("]");
  }

 private:
  std::string Part(const std::vector<Json>& entries) {
    const std::string comma = std::exchange(is_first_, false) ? "" : ",";
    return comma + CompactJson({{"entries", entries}}) + "\n";
  }

  void Advance(const Json& last) {
    query_.after = EntryPosition{*ParseRfc3339(StringOr(last, "timestamp")),
                                 StringOr(last, "insertId"), INT32_MAX};
  }

  std::shared_ptr<LoggingApi> api_;
  ListQuery query_;
  Duration window_;
  bool is_first_ = true;
};

// A stream of requests, of which over HTTP there can be one, alone or in a list.
Result<TailRequest> ReadTailRequest(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(1u << 20));
  auto parsed = ParseJson(Trim(text).empty() ? "{}" : text);
  if (!parsed.ok()) return errors::BodyMalformed(parsed.error().message);
  const Json given = parsed->is_array() && parsed->size() == 1 ? (*parsed)[0] : *parsed;
  if (!given.is_object()) return errors::BodyMalformed("it is no object");
  ASSIGN_OR_RETURN(const Json body,
                   OnlyMembers(given, {"resourceNames", "filter", "bufferWindow"}));
  TailRequest tail;
  ASSIGN_OR_RETURN(tail.query.parents, ParentsOf(body));
  ASSIGN_OR_RETURN(tail.query.filter, Filter::Parse(StringOr(body, "filter")));
  if (const std::string window = StringOr(body, "bufferWindow"); !window.empty()) {
    const auto duration = ParseProtoDuration(window);
    if (!duration || *duration < Duration(0) || *duration > kTailWindowMax) {
      return errors::MemberMisfit("bufferWindow", "from 0s to 60s");
    }
    tail.window = *duration;
  }
  return tail;
}

http::Response TailEntriesMethod(const std::shared_ptr<LoggingApi>& api,
                                 const http::Request& request) {
  const auto asked = ReadTailRequest(request);
  if (!asked.ok()) return Answer(request, asked.error());
  http::Response response = http::JsonResponse(200, "");
  const auto tail = std::make_shared<Tail>(api, *asked);
  response.write_body = [tail](const http::Response::Sink& sink) { tail->Run(sink); };
  return response;
}

}  // namespace

std::vector<http::Route> EntryRoutes(const std::shared_ptr<LoggingApi>& api) {
  return {
      {"POST", "/v2/entries:list", "logging.entries.list",
       [api](const http::Request& request, const http::PathParameters&) {
         return Answer(request, ListEntriesMethod(*api, request));
       }},
      {"POST", "/v2/entries:write", "logging.entries.write",
       [api](const http::Request& request, const http::PathParameters&) {
         return WriteEntriesMethod(*api, request);
       }},
      {"POST", "/v2/entries:tail", "logging.entries.tail",
       [api](const http::Request& request, const http::PathParameters&) {
         return TailEntriesMethod(api, request);
       }},
      {"POST", "/v2/entries:copy", "logging.entries.copy",
       [](const http::Request& request, const http::PathParameters&) {
         return Answer(request, errors::NotServed("logging.entries.copy"));
       },
       false},
  };
}

}  // namespace caip::logging
