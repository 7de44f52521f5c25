#pragma once
// An API as its discovery document describes it: methods, parameters, message types. Read from
// descriptions/NAME_VERSION.txt, whose lines (continued by a leading blank) are
//
//   method ID VERB PATH REQUEST RESPONSE [+upload] [+download] [QUERY:TYPE...]
//   schema NAME [FIELD:TYPE...]
//
// A TYPE is the name of a scalar or a schema, [TYPE] or {TYPE} (a map by name). "-" means no
// message. A "!" after a query parameter makes it required. {+name=projects/*} in a PATH is one
// resource's name.

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace caip::api {

struct ApiParameter {
  std::string name;
  Json schema;  // {"type": "string", "location": "query", ...}, as in the document
  bool in_path = false;
};

struct ApiMethod {
  std::string id;  // "ml.projects.jobs.list"
  std::string http_method;
  std::string path;       // below the service path: "v1/{+parent}/jobs"
  std::string flat_path;  // "v1/projects/{projectsId}/jobs"; "" if the API has none
  std::string request;    // a schema's name, or ""
  std::string response;
  bool media_upload = false;
  bool media_download = false;
  std::vector<ApiParameter> parameters;
  bool HasParameter(std::string_view parameter) const;
};

/// Describes one API. Immutable; any thread.
class ApiDescription {
 public:
  static const ApiDescription& Ml();
  static const ApiDescription& Aiplatform();
  static const ApiDescription& AiplatformBeta();
  static const ApiDescription& Storage();
  static const ApiDescription& Logging();
  /// The API of a method id ("storage.objects.get"); nullptr for caip's own and unknown methods. Of
  /// two versions with the same methods, it is the stable one.
  static const ApiDescription* Of(std::string_view method_id);
  static std::span<const ApiDescription* const> All();
  /// True if Of() finds an API. Does not parse the API.
  static bool Names(std::string_view method_id);

  const std::string& name() const { return name_; }        // "ml"
  const std::string& version() const { return version_; }  // "v1"
  bool IsStable() const { return version_.find("beta") == std::string::npos; }
  const std::string& title() const { return title_; }
  const std::string& service_path() const { return service_path_; }  // "" or "storage/v1/"
  const std::vector<ApiMethod>& methods() const { return methods_; }
  const ApiMethod* Find(std::string_view method_id) const;
  /// All message types by name, as JSON schemas; parsed on the first call.
  const Json& schemas() const;

 private:
  ApiDescription(std::string name, std::string version, std::string title, std::string service_path,
                 std::string_view text, void (*more_schemas)(Json&));
  void ReadMethod(const std::vector<std::string>& words);
  void ReadSchema(const std::vector<std::string>& words) const;

  std::string name_;
  std::string version_;
  std::string title_;
  std::string service_path_;
  std::vector<ApiMethod> methods_;
  std::string_view text_;
  void (*more_schemas_)(Json&);
  mutable std::once_flag schemas_read_;
  mutable Json schemas_ = Json::object();
};

/// Returns the parameters that every method of every API takes: fields, alt, key, ...
const Json& StandardParameterSchemas();

/// Converts the path of a method, such as "v1/{+name=projects/*/jobs/*}:cancel", to a pattern of
/// http::Route: "/v1/projects/{project}/jobs/{job}:cancel". Only for methods with a flat path.
std::string RoutePattern(const ApiMethod& method);

// The texts of descriptions/, compiled in by module.cmake.
std::string_view MlDescriptionText();
std::string_view AiplatformDescriptionText();
std::string_view StorageDescriptionText();
std::string_view LoggingDescriptionText();

}  // namespace caip::api
