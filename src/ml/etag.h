#pragma once
// The optimistic lock of a job (docs/service/api.md, section 4).

#include <map>
#include <string>
#include <string_view>

namespace caip::ml {

/// Eight bytes, as the service's are: a hash of what the job was (`previous`, or its name) and of
/// its labels, so that a return to old labels does not return to the old etag.
std::string NextEtag(std::string_view previous, const std::map<std::string, std::string>& labels);

}  // namespace caip::ml
