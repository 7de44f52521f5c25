#pragma once
// The types and limits of sinks, log-based metrics and exclusions.
// https://cloud.google.com/logging/docs/reference/v2/rest/v2/projects.sinks#LogSink

#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::logging {

enum class MemberType {
  kText,
  kFlag,
  kFilter,
  kObject,
  kTextMap,
  kExclusionList,
  kBigQueryOptions
};

/// A member that a resource may have.
struct ResourceMember {
  std::string_view name;
  MemberType type = MemberType::kText;
};

inline constexpr ResourceMember kSinkMembers[] = {{"name"},
                                                  {"destination"},
                                                  {"filter", MemberType::kFilter},
                                                  {"description"},
                                                  {"disabled", MemberType::kFlag},
                                                  {"exclusions", MemberType::kExclusionList},
                                                  {"outputVersionFormat"},
                                                  {"writerIdentity"},
                                                  {"includeChildren", MemberType::kFlag},
                                                  {"interceptChildren", MemberType::kFlag},
                                                  {"bigqueryOptions", MemberType::kBigQueryOptions},
                                                  {"createTime"},
                                                  {"updateTime"},
                                                  {"resourceName"},
                                                  {"startTime"},
                                                  {"endTime"}};
inline constexpr ResourceMember kMetricMembers[] = {{"name"},
                                                    {"description"},
                                                    {"filter", MemberType::kFilter},
                                                    {"bucketName"},
                                                    {"disabled", MemberType::kFlag},
                                                    {"metricDescriptor", MemberType::kObject},
                                                    {"valueExtractor"},
                                                    {"labelExtractors", MemberType::kTextMap},
                                                    {"bucketOptions", MemberType::kObject},
                                                    {"createTime"},
                                                    {"updateTime"},
                                                    {"version"},
                                                    {"resourceName"}};
inline constexpr ResourceMember kExclusionMembers[] = {{"name"},
                                                       {"description"},
                                                       {"filter", MemberType::kFilter},
                                                       {"disabled", MemberType::kFlag},
                                                       {"createTime"},
                                                       {"updateTime"}};

/// The members of a message of this type that a field mask can name; none for most types.
std::span<const ResourceMember> MembersOf(MemberType type);

/// Returns the resource with its members in camelCase, without those that are null. The members of
/// `given` may be in camelCase or snake_case. kInvalidArgument names all members that are unknown,
/// have the wrong type or have too many entries, and all filters that are not valid. `title`:
/// "Sink".
Result<Json> ReadMembers(const Json& given, std::span<const ResourceMember> members,
                         const std::string& title);

}  // namespace caip::logging
