#include "emulator/front/errors.h"

#include "base/quoting.h"

namespace caip::front::errors {

Error CannotWriteAccessLog(const std::filesystem::path& file, int error_number) {
  return SystemError("cannot write the access log " + Quoted(file.native()), error_number);
}

}  // namespace caip::front::errors
