#pragma once
// Why a list filter is broken: the last part of errors::FilterBroken.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::ml::errors {

Error FilterFieldUnknown(std::string_view field);
Error FilterFieldNotComparable(std::string_view field);
Error FilterOperatorNotForField(std::string_view field, std::string_view kind);
Error FilterValueNot(std::string_view value, std::string_view wanted);
Error FilterTermExpected();
Error FilterOperatorExpected(std::string_view field);
Error FilterValueExpected();
Error FilterQuoteOpen();
Error FilterParenthesisOpen();
Error FilterConnectiveExpected();
Error FilterTooDeep(int limit);
Error FilterTooLong(size_t limit);

}  // namespace caip::ml::errors
