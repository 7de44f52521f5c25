#include "fakes/gcs/store/bucket_store.h"

#include <algorithm>

#include "fakes/gcs/errors.h"

namespace caip::gcs {

Result<Bucket> BucketStore::CreateBucket(const std::string& name) {
  Bucket bucket;
  bucket.name = name;
  return CreateBucket(bucket);
}

Status ObjectWriter::AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) {
  constexpr size_t kPieceBytes = 1 << 20;
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, length));
  while (length > 0) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece.size(), length));
    ASSIGN_OR_RETURN(const size_t count, source.ReadAt(offset, piece.data(), wanted));
    if (count == 0) return errors::ObjectNotFound(source.info().bucket, source.info().name);
    RETURN_IF_ERROR(Append({piece.data(), count}));
    offset += count;
    length -= count;
  }
  return Ok{};
}

}  // namespace caip::gcs
