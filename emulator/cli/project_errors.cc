#include "emulator/cli/project_errors.h"

#include <string>

namespace caip::cli::errors {
namespace {

Error InvalidProjectErrors(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

}  // namespace

// gcloud takes what has capitals, blanks or quotes for the name that people gave their project.
Error ProjectNotAnId(std::string_view project) {
  const std::string_view marks = " !\"'";
  const char first = project.empty() ? '\0' : project.front();
  const bool name = first == '-' || (first >= '0' && first <= '9') ||
                    (first >= 'A' && first <= 'Z') ||
                    project.find_first_of(marks) != std::string_view::npos;
  const std::string must = "The project property must be set to a valid project ID, ";
  return InvalidProjectErrors(
      must +
      (name ? "not the project name [" + std::string(project) + "]"
            : "[" + std::string(project) + "] is not a valid project ID.") +
      "\nIds have small letters, digits and dashes, and no dash at an end.");
}
Error ProjectNumberGiven() {
  return InvalidProjectErrors(
      "The value of ``--project'' flag was set to Project number. To use this command, set it to "
      "PROJECT ID instead.");
}

}  // namespace caip::cli::errors
