#include "google/filter/filter_errors.h"

#include "base/quoting.h"

namespace caip::google::errors {
namespace {

Error Because(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

}  // namespace

Error FilterFieldUnknown(std::string_view field, std::string_view fields_in_words) {
  return Because("there is no field " + Quoted(field) + ". Use " + std::string(fields_in_words) +
                 ".");
}

Error FilterFieldNotComparable(std::string_view field) {
  return Because("the field " + Quoted(field) +
                 " is a message: name a field in it, or ask with ':*' whether it is set.");
}

Error FilterOperatorNotForField(std::string_view field, std::string_view kind) {
  return Because("the field " + Quoted(field) + " is " + std::string(kind) +
                 ", which has no such comparison.");
}

Error FilterOperatorNotTaken(std::string_view field, std::string_view operators) {
  return Because("the field " + Quoted(field) +
                 " can be compared only with: " + std::string(operators));
}

Error FilterValueNot(std::string_view value, std::string_view wanted) {
  return Because(Quoted(value) + " is not " + std::string(wanted) + ".");
}

Error FilterTermExpected(std::string_view example) {
  return Because("a comparison is expected, as " + std::string(example) + ".");
}

Error FilterOperatorExpected(std::string_view field) {
  return Because("an operator is expected after " + Quoted(field) + ": one of : = != < <= > >=");
}

Error FilterValueExpected() { return Because("a value is expected."); }

Error FilterQuoteOpen() { return Because("the text that begins here has no closing quote."); }

Error FilterParenthesisOpen() { return Because("a closing parenthesis is expected."); }

Error FilterConnectiveExpected() { return Because("AND, OR or the end is expected."); }

Error FilterTooDeep(int limit) {
  return Because("it is nested deeper than " + std::to_string(limit) + " levels.");
}

Error FilterTooLong(size_t limit) {
  return Because("it is longer than " + std::to_string(limit) + " characters.");
}

}  // namespace caip::google::errors
