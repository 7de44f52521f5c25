#pragma once
// Parameters that several methods of the JSON API read, and the rendering of objects. Private to
// fakes/gcs.

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::gcs {

/// Parses the body as JSON. An empty body is null. kInvalidArgument if it is not JSON, too large,
/// or neither an object nor null.
Result<Json> JsonBody(const http::Request& request);
http::Response Rendered(const Json& json);
http::Response NoContent();
/// 304: the client already has this version. `etag`: "" if the resource has none.
http::Response NotModified(const std::string& etag);

/// A boolean parameter that CheckParameters() accepts. Clients for Python send "True".
bool IsTrue(std::string_view text);
/// A parameter that may be missing.
std::optional<std::string> TextParameter(const http::Request& request, std::string_view name);
Result<std::optional<int64_t>> IntParameter(const http::Request& request, const std::string& name);
/// maxResults (or another parameter), limited to 1..`most`; `most` if it is missing.
Result<size_t> PageSize(const http::Request& request, size_t most,
                        const std::string& parameter = "maxResults");
/// Checks the boolean and enum parameters that the method with this id ("storage.objects.list")
/// has: kInvalidArgument names the value. Parameters that it does not have count for nothing, as in
/// the service.
Status CheckParameters(const http::Request& request, std::string_view method_id);
/// True for projection=full.
bool WantsAcl(const http::Request& request);

/// The object that {bucket} and {object} of the path name.
ObjectName ObjectAt(const http::PathParameters& path);
/// The name of a managed folder with the slash at its end, which requests may leave out.
std::string FolderName(std::string name);
/// The version that `generation` (or another parameter) names. It is not a soft-deleted one: "the
/// only operations supported on soft-deleted objects are to list or restore them", and to get their
/// metadata (https://cloud.google.com/storage/docs/soft-delete).
Result<Version> VersionOf(const http::Request& request,
                          const std::string& generation = "generation");
/// The same for a request of metadata: with `softDeleted`, the version is a soft-deleted one.
Result<Version> ShownVersionOf(const http::Request& request);
/// The four conditions ifGenerationMatch, ifGenerationNotMatch and so on. `prefix` is "if" or
/// "ifSource".
Result<Preconditions> PreconditionsOf(const http::Request& request,
                                      const std::string& prefix = "if");
/// Reads a new object's access control list, key and KMS key from parameters and headers.
Status ApplyDestination(const http::Request& request, ObjectInfo* info);

/// Renders the object as JSON, with its retention expiration time. projection=full adds its access
/// control list.
Json RenderedObject(const StorageService& service, const http::Request& request,
                    const ObjectInfo& info);
/// The same for many objects of one bucket, whose rules are read once.
Json RenderedObject(const Bucket& bucket, const BucketRules& rules, const http::Request& request,
                    const ObjectInfo& info);
/// The resource without checksums if the object has a customer's key that the request lacks: they
/// would say what the bytes are.
/// https://cloud.google.com/storage/docs/encryption/customer-supplied-keys
Json WithoutSecretSums(Json object, const http::Request& request, const ObjectInfo& info);

}  // namespace caip::gcs
