#include "images/archive_problem.h"

#include <archive.h>

namespace caip::images {

std::string ArchiveProblem(archive* opened, std::string_view otherwise) {
  const char* text = archive_error_string(opened);
  return text == nullptr || *text == '\0' ? std::string(otherwise) : std::string(text);
}

}  // namespace caip::images
