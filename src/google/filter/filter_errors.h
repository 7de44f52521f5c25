#pragma once
// Why a list filter is broken: the last part of FilterLanguage::broken.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::google::errors {

Error FilterFieldUnknown(std::string_view field, std::string_view fields_in_words);
Error FilterFieldNotComparable(std::string_view field);
Error FilterOperatorNotForField(std::string_view field, std::string_view kind);
/// `operators` are those that the field takes.
Error FilterOperatorNotTaken(std::string_view field, std::string_view operators);
Error FilterValueNot(std::string_view value, std::string_view wanted);
Error FilterTermExpected(std::string_view example);
Error FilterOperatorExpected(std::string_view field);
Error FilterValueExpected();
Error FilterQuoteOpen();
Error FilterParenthesisOpen();
Error FilterConnectiveExpected();
Error FilterTooDeep(int limit);
Error FilterTooLong(size_t limit);

}  // namespace caip::google::errors
