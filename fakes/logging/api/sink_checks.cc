#include "fakes/logging/api/sink_checks.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/filter/fields.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {
namespace {

constexpr size_t kExclusionsMax = 50;  // https://cloud.google.com/logging/quotas
constexpr size_t kMisfitsKept = 10;
constexpr ResourceMember kBigQueryMembers[] = {
    {"usePartitionedTables", MemberType::kFlag},
    {"usesTimestampColumnPartitioning", MemberType::kFlag}};

/// Keeps the first errors of a request, and counts the rest.
class MemberErrors {
 public:
  void Add(Error error) {
    if (++count_ <= kMisfitsKept) kept_.push_back(std::move(error));
  }
  void AddMisfit(const std::string& place, const std::string& wanted) {
    Add(errors::MemberMisfit(place, wanted));
  }
  Status AsStatus() && {
    if (count_ == 0) return Ok{};
    return errors::ManyMembersRefused(std::move(kept_), count_);
  }

 private:
  size_t count_ = 0;
  std::vector<Error> kept_;
};

Json ReadObject(const Json& given, std::span<const ResourceMember> members,
                const std::string& title, const std::string& prefix, MemberErrors& errors);

// The exclusions of a sink. Their number is checked before anything is done for each of them.
Json ReadExclusions(const Json& list, const std::string& place, MemberErrors& errors) {
  Json read = Json::array();
  if (!list.is_array()) {
    errors.AddMisfit(place, "a list of exclusions");
  } else if (list.size() > kExclusionsMax) {
    errors.AddMisfit(place, "at most 50 exclusions, not " + std::to_string(list.size()));
  } else {
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string entry = place + "[" + std::to_string(i) + "]";
      if (!list[i].is_object()) errors.AddMisfit(entry, "an object");
      read.push_back(ReadObject(list[i], kExclusionMembers, entry, entry + ".", errors));
      for (const char* required : {"name", "filter"}) {
        if (StringOr(read.back(), required).empty()) {
          errors.Add(errors::MemberMissing(entry + "." + required));
        }
      }
    }
  }
  return read;
}

void CheckFilter(const Json& value, const std::string& place, MemberErrors& errors) {
  if (!value.is_string()) return errors.AddMisfit(place, "a string");
  const auto& filter = value.get_ref<const std::string&>();
  if (filter.empty()) return;
  if (auto parsed = Filter::Parse(filter); !parsed.ok()) errors.Add(parsed.error());
}

void CheckTextMap(const Json& value, const std::string& place, MemberErrors& errors) {
  if (!value.is_object()) return errors.AddMisfit(place, "an object");
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string()) errors.AddMisfit(place + "." + name, "a string");
  }
}

Json ReadMember(const Json& value, MemberType type, const std::string& place,
                MemberErrors& errors) {
  using enum MemberType;
  switch (type) {
    case kText:
      if (!value.is_string()) errors.AddMisfit(place, "a string");
      break;
    case kFlag:
      if (!value.is_boolean()) errors.AddMisfit(place, "true or false");
      break;
    case kFilter:
      CheckFilter(value, place, errors);
      break;
    case kObject:
      if (!value.is_object()) errors.AddMisfit(place, "an object");
      break;
    case kTextMap:
      CheckTextMap(value, place, errors);
      break;
    case kBigQueryOptions:
      if (!value.is_object()) errors.AddMisfit(place, "an object");
      return ReadObject(value, kBigQueryMembers, place, place + ".", errors);
    case kExclusionList:
      return ReadExclusions(value, place, errors);
  }
  return value;
}

Json ReadObject(const Json& given, std::span<const ResourceMember> members,
                const std::string& title, const std::string& prefix, MemberErrors& errors) {
  Json read = Json::object();
  if (!given.is_object()) return read;
  for (const auto& [given_name, value] : given.items()) {
    const std::string name = LowerCamelCase(given_name);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& row) { return row.name == name; });
    if (found == members.end()) {
      errors.Add(errors::MemberUnknown(given_name, title));
    } else if (!value.is_null()) {
      read[name] = ReadMember(value, found->type, prefix + name, errors);
    }
  }
  return read;
}

}  // namespace

std::span<const ResourceMember> MembersOf(MemberType type) {
  if (type == MemberType::kBigQueryOptions) return kBigQueryMembers;
  return {};
}

Result<Json> ReadMembers(const Json& given, std::span<const ResourceMember> members,
                         const std::string& title) {
  MemberErrors errors;
  Json read = ReadObject(given, members, title, "", errors);
  RETURN_IF_ERROR(std::move(errors).AsStatus());
  return read;
}

}  // namespace caip::logging
