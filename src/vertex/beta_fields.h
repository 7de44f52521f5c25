#pragma once
// Fields that v1beta1 of the API has and v1 does not (docs/service/vertex.md, section 3).

#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::vertex {

/// Removes these fields from the body of a request of v1beta1, whose other fields are those of v1.
/// caip serves none of them: returns a violation for each that has a value.
std::vector<FieldViolation> TakeBetaFields(Json& body);

}  // namespace caip::vertex
