// entries.list, entries.write and entries.tail.

#include <algorithm>

#include "base/abandoned_work.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/api/messages.h"
#include "fakes/logging/api/written_entry.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr size_t kEntriesPageStandard = 50;
constexpr size_t kEntriesPageMax = 1000;
constexpr size_t kResourcesMax = 100;
constexpr size_t kEntriesPerCheck = 256;
constexpr size_t kWrittenBytesMax = 64u << 20;  // of one request, when its entries are complete
constexpr size_t kRefusedShown = 100;
constexpr std::chrono::milliseconds kTailBeat{1000};  // a blank line detects a dead peer
constexpr std::chrono::hours kTailMax{1};             // as in the service
constexpr Duration kLeadMin = std::chrono::milliseconds(100);
constexpr Duration kStreamLagMax = std::chrono::seconds(60);  // gcloud uses five
constexpr Duration kTailWindow = std::chrono::seconds(2);     // waits for late entries
constexpr Duration kTailWindowMax = std::chrono::seconds(60);

// Reads resourceNames, and the older projectIds.
Result<std::vector<std::string>> ReadParents(const Json& body) {
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

// The jobs of Vertex AI have the number of their project in their names, and their entries its id.
void AddAlias(const LoggingApi& api, std::vector<std::string>& parents) {
  const auto has = [&](const std::string& parent) {
    return std::find(parents.begin(), parents.end(), parent) != parents.end();
  };
  if (has(api.alias.number) && !has(api.alias.id)) parents.push_back(api.alias.id);
}

Result<bool> IsNewestFirst(const Json& body) {
  const std::string order = StringOr(body, "orderBy");
  const std::string_view trimmed = Trim(order);
  if (trimmed.empty() || trimmed == "timestamp" || trimmed == "timestamp asc") return false;
  if (trimmed == "timestamp desc") return true;
  return errors::OrderInvalid(order);
}

// A hash of the arguments that must be the same in all requests for pages of one list.
std::string Fingerprint(const Json& body) {
  Json asked = body;
  asked.erase("pageToken");
  asked.erase("pageSize");
  return std::to_string(Fnv1a(CompactJson(asked)));
}

std::string MakeEntriesToken(const EntryPosition& next, const Json& body) {
  return MakePageToken({{"time", next.time.time_since_epoch().count()},
                        {"id", next.insert_id},
                        {"source", next.source},
                        {"of", Fingerprint(body)}});
}

Result<std::optional<EntryPosition>> ReadEntriesToken(const Json& body) {
  const std::string text = StringOr(body, "pageToken");
  if (text.empty()) return std::optional<EntryPosition>();
  ASSIGN_OR_RETURN(const Json token, ParsePageToken(text));
  if (StringOr(token, "of") != Fingerprint(body)) return errors::PageTokenMismatch();
  return std::optional<EntryPosition>({Instant(Duration(IntOr(token, "time", 0))),
                                       StringOr(token, "id"),
                                       static_cast<int>(IntOr(token, "source", 0))});
}

// A client that streams a job's log requests entries up to a few seconds ago, by its own clock. If
// the service's clock is ahead, the filter must mean a few seconds ago by the service's clock.
Filter AdjustToServiceTime(const LoggingApi& api, const Filter& filter) {
  const Instant wall = api.wall.Now();
  const Duration lead = api.clock.Now() - wall;
  if (lead < kLeadMin) return filter;
  return filter.WithUpperTimes([=](Instant time) {
    return time <= wall && time > wall - kStreamLagMax ? time + lead : time;
  });
}

// Records how far a client that streams a job's log has read.
void RecordReader(const LoggingApi& api, const http::Request& request, ListQuery& query) {
  const std::string invocation = InvocationId(request.headers.Get("User-Agent"));
  const std::string& service = api.book.names().service;
  if (invocation.empty() || !EntryBounds::Of(query.filter, service).job_id) return;
  query.filter = AdjustToServiceTime(api, query.filter);
  const EntryBounds bounds = EntryBounds::Of(query.filter, service);
  for (const std::string& parent : query.parents) {
    api.readers.Record(invocation, parent.substr(parent.find('/') + 1), *bounds.job_id,
                       bounds.until);
  }
}

Result<ListQuery> ReadListQuery(const Json& body) {
  ListQuery query;
  ASSIGN_OR_RETURN(query.parents, ReadParents(body));
  ASSIGN_OR_RETURN(query.newest_first, IsNewestFirst(body));
  ASSIGN_OR_RETURN(query.limit, LimitPageSize(IntOr(body, "pageSize", 0), kEntriesPageStandard,
                                              kEntriesPageMax));
  ASSIGN_OR_RETURN(query.filter, Filter::Parse(StringOr(body, "filter")));
  ASSIGN_OR_RETURN(query.after, ReadEntriesToken(body));
  return query;
}

Result<Json> ListEntriesMethod(const LoggingApi& api, const http::Request& request) {
  ASSIGN_OR_RETURN(const Json given, ReadBody(request));
  ASSIGN_OR_RETURN(const Json body,
                   CanonicalMembers(given, {"resourceNames", "projectIds", "filter", "orderBy",
                                            "pageSize", "pageToken"}));
  ASSIGN_OR_RETURN(ListQuery query, ReadListQuery(body));
  AddAlias(api, query.parents);
  RecordReader(api, request, query);
  ASSIGN_OR_RETURN(ListPage page, api.book.List(query));
  Json answer = Json::object();
  if (!page.entries.empty()) answer["entries"] = Json(std::move(page.entries));
  if (page.next) answer["nextPageToken"] = MakeEntriesToken(*page.next, body);
  return answer;
}

bool IsSet(const Json& body, std::string_view name) {
  const Json* flag = Member(body, name);
  return flag && flag->is_boolean() && flag->get<bool>();
}

struct WriteRequest {
  Json body;
  std::vector<WrittenEntry> entries;
  size_t bytes = 0;               // of the entries, with what they take from the request
  Json refused = Json::object();  // the first errors by index
  size_t refused_count = 0;
  std::optional<Error> first_error;

  void Refuse(size_t index, const Error& error) {
    if (!first_error) first_error = error;
    if (++refused_count > kRefusedShown) return;
    refused[std::to_string(index)] = {{"code", static_cast<int>(error.code)},
                                      {"message", error.message}};
  }
};

Result<WriteRequest> ReadWriteRequest(const LoggingApi& api, const http::Request& request) {
  WriteRequest read;
  ASSIGN_OR_RETURN(const Json given, ReadBody(request));
  ASSIGN_OR_RETURN(read.body, CanonicalMembers(given, {"logName", "resource", "labels", "entries",
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
    if (i % kEntriesPerCheck == 0 && IsWorkAbandoned()) return errors::ClientGone();
    auto entry = ReadWrittenEntry((*entries)[i], "entries[" + std::to_string(i) + "]", defaults);
    if (!entry.ok() && !IsSet(read.body, "partialSuccess")) return entry.error();
    if (!entry.ok()) {
      read.Refuse(i, entry.error());
      continue;
    }
    read.bytes += entry->json.size();
    if (read.bytes > kWrittenBytesMax) return errors::EntriesTooLong(kWrittenBytesMax);
    read.entries.push_back(std::move(entry).value());
  }
  return read;
}

// Stores the valid entries.
Result<Json> WriteEntries(const LoggingApi& api, WriteRequest& read) {
  if (!IsSet(read.body, "dryRun") && !read.entries.empty()) {
    RETURN_IF_ERROR(api.book.Write(std::move(read.entries)));
  }
  return Json::object();
}

http::Response WriteEntriesMethod(const LoggingApi& api, const http::Request& request) {
  auto read = ReadWriteRequest(api, request);
  if (!read.ok()) return MakeResponse(request, read.error());
  const Result<Json> written = WriteEntries(api, *read);
  if (!written.ok() || !read->first_error) return MakeResponse(request, written);
  return MakeErrorResponse(
      errors::EntriesRefused(*read->first_error, read->refused_count, kRefusedShown),
      Json::array({{{"@type", "type.googleapis.com/google.logging.v2.WriteLogEntriesPartialErrors"},
                    {"logEntryErrors", read->refused}}}));
}

struct TailRequest {
  ListQuery query;
  Duration window = kTailWindow;
};

/// Sends the response of entries.tail: an array that grows, [{"entries":[...]},{"entries":[...]},
/// ...
class Tail {
 public:
  Tail(const std::shared_ptr<LoggingApi>& api, const TailRequest& request)
      : api_(api), query_(request.query), window_(request.window) {
    query_.limit = kEntriesPageMax;
    query_.after = EntryPosition{api->clock.Now(), "", 0};
  }

  void Run(const http::Response::Sink& sink) {
    const Stopwatch stopwatch;
    uint64_t seen = 0;
    for (bool alive = sink("["); alive && stopwatch.Elapsed() < kTailMax;) {
      query_.until = api_->clock.Now() - window_;
      const auto page = api_->book.List(query_);
      if (!page.ok()) break;
      alive = sink(page->entries.empty() ? std::string("\n") : NextElement(page->entries));
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
  std::string NextElement(const std::vector<Json>& entries) {
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

// The service takes a stream of requests. Over HTTP, the body is one request, or a list of one.
Result<TailRequest> ReadTailRequest(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(1u << 20));
  auto parsed = ParseJson(Trim(text).empty() ? "{}" : text);
  if (!parsed.ok()) return errors::BodyMalformed(parsed.error().message);
  const Json given = parsed->is_array() && parsed->size() == 1 ? (*parsed)[0] : *parsed;
  if (!given.is_object()) return errors::BodyNotAnObject();
  ASSIGN_OR_RETURN(const Json body,
                   CanonicalMembers(given, {"resourceNames", "filter", "bufferWindow"}));
  TailRequest tail;
  ASSIGN_OR_RETURN(tail.query.parents, ReadParents(body));
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
  auto asked = ReadTailRequest(request);
  if (!asked.ok()) return MakeResponse(request, asked.error());
  AddAlias(*api, asked->query.parents);
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
         return MakeResponse(request, ListEntriesMethod(*api, request));
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
         return MakeResponse(request, errors::MethodNotEmulated("logging.entries.copy"));
       },
       false},
  };
}

}  // namespace caip::logging
