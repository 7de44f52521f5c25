#pragma once
// Values of a file as gcloud's client, which is written in Python, names them in its errors.

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace caip::client {

/// "True", "1.5", "['a', 1]": Python's str() of the value.
std::string PythonStr(const Json& value);

/// "'int' object has no attribute 'items'": the value stands where a message belongs.
std::string HasNoItems(const Json& value);

/// "Expected type <class 'str'> for field timeout, found 7200 (type <class 'int'>)". `wanted`:
/// "text", "true or false", "a whole number", "a number" or "text in base64".
std::string ExpectedType(std::string_view field, std::string_view wanted, const Json& value);

}  // namespace caip::client
