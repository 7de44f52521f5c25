#include "fakes/logging/filter/errors.h"

namespace caip::logging::errors {
namespace {

Error Unparseable(const FilterPlace& place, const std::string& what) {
  return {Code::kInvalidArgument, "Unparseable filter: " + what + " at line " +
                                      std::to_string(place.line) + ", column " +
                                      std::to_string(place.column)};
}

}  // namespace

Error PatternInvalid(const std::string& why) { return {Code::kInvalidArgument, why}; }

Error FilterSyntax(const FilterPlace& place, const std::string& token) {
  Error error = Unparseable(place, "syntax error");
  error.message += token.empty() ? ", at the end of the filter" : ", token '" + token + "'";
  return error;
}

Error FilterQuoteOpen(const FilterPlace& place) {
  return Unparseable(place, "the quote is not closed");
}

Error FilterTooLong(size_t bytes, size_t bytes_max) {
  return {Code::kInvalidArgument, "The filter has " + std::to_string(bytes) + " bytes; at most " +
                                      std::to_string(bytes_max) + " are allowed"};
}

Error FilterTooDeep(const FilterPlace& place, int depth_max) {
  return Unparseable(place, "more than " + std::to_string(depth_max) + " levels of nesting");
}

Error FilterNotUtf8() { return {Code::kInvalidArgument, "The filter is not valid UTF-8"}; }

Error FilterFieldUnknown(const FilterPlace& place, const std::string& field) {
  return Unparseable(place, "Field not found: '" + field + "'");
}

Error FilterFunctionUnknown(const FilterPlace& place, const std::string& name) {
  Error error = Unparseable(place, "function '" + name + "' is not emulated");
  error.message += "; use log_id, SEARCH or sample";
  return error;
}

Error FilterArguments(const FilterPlace& place, const std::string& form) {
  Error error = Unparseable(place, "illegal arguments");
  error.message += "; write " + form;
  return error;
}

Error FilterOperatorMisfit(const FilterPlace& place, const std::string& field) {
  return Unparseable(place, "the operator does not fit the field '" + field + "'");
}

Error FilterValueMisfit(const FilterPlace& place, const std::string& field,
                        const std::string& value, const std::string& wanted) {
  return Unparseable(place, "'" + value + "' is not a valid value of '" + field +
                                "', which must be " + wanted + ",");
}

Error FilterPatternBroken(const FilterPlace& place, const std::string& pattern,
                          const std::string& why) {
  return Unparseable(place, "regular expression '" + pattern + "': " + why);
}

}  // namespace caip::logging::errors
