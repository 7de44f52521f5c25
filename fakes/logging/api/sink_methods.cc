// Sinks, log-based metrics and exclusions: stored and returned, with their filters checked. They
// have no effect: nothing is exported, counted or excluded.

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/api/messages.h"
#include "fakes/logging/api/sink_checks.h"
#include "fakes/logging/api/update_mask.h"

namespace caip::logging {
namespace {

constexpr size_t kSinksPageStandard = 100;
constexpr size_t kSinksPageMax = 1000;
constexpr const char* kWriterIdentity =
    "serviceAccount:service-000000000000@gcp-sa-logging.iam.gserviceaccount.com";

/// One kind of resource.
struct ResourceKind {
  const char* collection;  // "sinks"
  const char* title;       // "Sink", in errors
  const char* required;    // the required member besides the name
  bool update_creates;     // metrics.update creates a missing metric
  std::span<const ResourceMember> members;
};

const ResourceKind kSinks = {"sinks", "Sink", "destination", false, kSinkMembers};
const ResourceKind kMetrics = {"metrics", "Metric", "filter", true, kMetricMembers};
const ResourceKind kExclusions = {"exclusions", "Exclusion", "filter", false, kExclusionMembers};

/// The methods of one kind below one parent.
class Collection {
 public:
  Collection(LoggingApi& api, const ResourceKind& kind, const std::string& parent)
      : api_(api), kind_(kind), prefix_(parent + "/" + kind.collection + "/") {}

  Result<Json> List(const http::Request& request) const {
    ASSIGN_OR_RETURN(const size_t limit, ReadLimit(request));
    ASSIGN_OR_RETURN(const std::string after, ReadPageStart(request));
    ASSIGN_OR_RETURN(auto found, api_.resources->List(prefix_, after, limit + 1));
    const bool has_more = found.size() > limit;
    if (has_more) found.pop_back();
    Json answer = Json::object();
    for (auto& [name, body] : found) answer[kind_.collection].push_back(std::move(body));
    if (has_more) answer["nextPageToken"] = MakePageToken({{"after", found.back().first}});
    return answer;
  }

  Result<Json> Get(const std::string& id) const {
    ASSIGN_OR_RETURN(const std::optional<Json> body, api_.resources->Get(prefix_ + id));
    if (!body) return errors::ResourceNotFound(kind_.title, id);
    return *body;
  }

  Result<Json> Create(const http::Request& request) const {
    ASSIGN_OR_RETURN(Json body, Read(request));
    const std::string id = StringOr(body, "name");
    if (!IsId(id))
      return errors::MemberMisfit("name", "1 to 100 letters, digits and characters of _-.");
    return Put(id, std::move(body), [&](const std::optional<Json>& present) -> Status {
      return present ? Status(errors::ResourceExists(kind_.title, id)) : Status(Ok{});
    });
  }

  /// updateMask names the members to change. Without it, all members change.
  Result<Json> Update(const http::Request& request, const std::string& id) const {
    ASSIGN_OR_RETURN(const Json given, Read(request));
    ASSIGN_OR_RETURN(const UpdateMask mask, UpdateMask::Read(request, kind_.members, kind_.title));
    return api_.resources->Change(
        prefix_ + id, [&](const std::optional<Json>& present) -> Result<Json> {
          if (!present && !kind_.update_creates) return errors::ResourceNotFound(kind_.title, id);
          Json body = present && !mask.is_empty() ? mask.Apply(*present, given) : given;
          return Complete(std::move(body), id, present);
        });
  }

  Result<Json> Delete(const std::string& id) const {
    ASSIGN_OR_RETURN(const bool existed, api_.resources->Remove(prefix_ + id));
    if (!existed) return errors::ResourceNotFound(kind_.title, id);
    return Json::object();
  }

 private:
  static Result<size_t> ReadLimit(const http::Request& request) {
    const std::string size(request.Query("pageSize"));
    return LimitPageSize(size.empty() ? 0 : IntOr(Json{{"n", size}}, "n", -1), kSinksPageStandard,
                         kSinksPageMax);
  }

  /// The last name of the previous page; "" for the first page.
  static Result<std::string> ReadPageStart(const http::Request& request) {
    const auto text = request.Query("pageToken");
    if (text.empty()) return std::string();
    ASSIGN_OR_RETURN(const Json token, ParsePageToken(text));
    return StringOr(token, "after");
  }

  static bool IsId(const std::string& id) {
    return !id.empty() && id.size() <= 100 && id.find('/') == id.npos && id == PercentEncoded(id);
  }

  Result<Json> Read(const http::Request& request) const {
    ASSIGN_OR_RETURN(const Json given, ReadBody(request));
    return ReadMembers(given, kind_.members, kind_.title);
  }

  Result<Json> Put(const std::string& id, Json body,
                   const std::function<Status(const std::optional<Json>&)>& check) const {
    return api_.resources->Change(prefix_ + id,
                                  [&](const std::optional<Json>& present) -> Result<Json> {
                                    RETURN_IF_ERROR(check(present));
                                    return Complete(std::move(body), id, present);
                                  });
  }

  // Adds the members that only the service sets.
  Result<Json> Complete(Json body, const std::string& id,
                        const std::optional<Json>& present) const {
    if (StringOr(body, kind_.required).empty()) return errors::MemberMissing(kind_.required);
    const std::string now = Rfc3339(api_.clock.Now(), 9);
    body["name"] = id;
    body["createTime"] = present ? StringOr(*present, "createTime", now) : now;
    body["updateTime"] = now;
    if (&kind_ == &kSinks) body["writerIdentity"] = kWriterIdentity;
    if (&kind_ != &kExclusions) body["resourceName"] = prefix_ + id;
    return body;
  }

  LoggingApi& api_;
  const ResourceKind& kind_;
  std::string prefix_;
};

using CollectionMethod = std::function<Result<Json>(const Collection&, const http::Request&,
                                                    const http::PathParameters&)>;

void AddRoutes(const std::shared_ptr<LoggingApi>& api, const ResourceKind& kind,
               const std::string& parents, std::vector<http::Route>& routes) {
  const std::string all = "/v2/" + parents + "/{id}/" + kind.collection;
  const auto add = [&](const char* verb, const std::string& path, const char* name,
                       CollectionMethod method) {
    routes.push_back({verb, path, "logging." + parents + "." + kind.collection + "." + name,
                      [api, &kind, parents, method](const http::Request& request,
                                                    const http::PathParameters& at) {
                        const Collection collection(*api, kind, parents + "/" + at.At("id"));
                        return MakeResponse(request, method(collection, request, at));
                      }});
  };
  const CollectionMethod update = [](const Collection& in, const auto& request, const auto& at) {
    return in.Update(request, at.At("name"));
  };
  add("GET", all, "list",
      [](const Collection& in, const auto& request, const auto&) { return in.List(request); });
  add("POST", all, "create",
      [](const Collection& in, const auto& request, const auto&) { return in.Create(request); });
  add("GET", all + "/{name}", "get",
      [](const Collection& in, const auto&, const auto& at) { return in.Get(at.At("name")); });
  add("PUT", all + "/{name}", "update", update);
  if (&kind != &kMetrics) add("PATCH", all + "/{name}", "patch", update);
  add("DELETE", all + "/{name}", "delete",
      [](const Collection& in, const auto&, const auto& at) { return in.Delete(at.At("name")); });
}

}  // namespace

std::vector<http::Route> SinkAndMetricRoutes(const std::shared_ptr<LoggingApi>& api) {
  std::vector<http::Route> routes;
  for (const std::string parents : {"projects", "organizations", "folders", "billingAccounts"}) {
    AddRoutes(api, kSinks, parents, routes);
    AddRoutes(api, kExclusions, parents, routes);
  }
  AddRoutes(api, kMetrics, "projects", routes);
  return routes;
}

}  // namespace caip::logging
