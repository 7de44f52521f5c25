#include "tuning/errors.h"

#include <string>

namespace caip::tuning::errors {
namespace {

Error Illegal(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }
std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

Error ValueMissing(std::string_view parameter) {
  return Illegal("The parameter " + Quoted(parameter) +
                 " has no value. A trial needs one for each parameter of the study.");
}

Error ValueOutside(std::string_view parameter, std::string_view text) {
  return Illegal("The value " + Quoted(text) + " of the parameter " + Quoted(parameter) +
                 " is none of those that the study allows.");
}

Error ParameterNotCalledFor(std::string_view parameter) {
  return Illegal("The parameter " + Quoted(parameter) +
                 " is none of the study, or its parent has a value that does not call for it.");
}

}  // namespace caip::tuning::errors
