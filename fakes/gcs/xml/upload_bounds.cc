#include "fakes/gcs/xml/upload_bounds.h"

#include "base/text.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/xml_errors.h"

namespace caip::gcs {

Result<UploadBounds> ReadLengthRange(const http::Request& request) {
  constexpr const char* kHeader = "x-goog-content-length-range";
  if (!request.headers.Has(kHeader)) return UploadBounds();
  const std::string_view text = request.headers.Get(kHeader);
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return xml_errors::LengthRangeInvalid(text);
  const auto least = ParseNumber(Trim(text.substr(0, comma)));
  const auto most = ParseNumber(Trim(text.substr(comma + 1)));
  if (!least || !most || *least > *most) return xml_errors::LengthRangeInvalid(text);
  return UploadBounds{*least, *most};
}

Result<size_t> BoundedBody::Read(char* buffer, size_t size) {
  ASSIGN_OR_RETURN(const size_t count, source_.Read(buffer, size));
  total_ += count;
  if (bounds_.most && total_ > *bounds_.most) return xml_errors::EntityTooLarge(*bounds_.most);
  if (count == 0 && total_ < bounds_.least) {
    return xml_errors::EntityTooSmall(total_, bounds_.least);
  }
  return count;
}

}  // namespace caip::gcs
