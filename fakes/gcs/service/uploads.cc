#include "fakes/gcs/service/uploads.h"

#include <vector>

namespace caip::gcs {

Status CopyBody(http::BodyReader& body, ObjectWriter& writer) {
  constexpr size_t kBufferBytes = 256 << 10;
  std::vector<char> buffer(kBufferBytes);
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(buffer.data(), buffer.size()));
    if (count == 0) return Ok{};
    RETURN_IF_ERROR(writer.Append({buffer.data(), count}));
  }
}

}  // namespace caip::gcs
