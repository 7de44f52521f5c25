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

Status CheckPreconditions(const Preconditions& preconditions, const ObjectInfo* live) {
  struct Condition {
    const char* name;
    const std::optional<int64_t>& wanted;
    int64_t found;
    bool equal;
  };
  // A missing object has generation 0, so ifGenerationNotMatch=0 requires that it exists.
  const int64_t generation = live ? live->generation : 0;
  const int64_t metageneration = live ? live->metageneration : 0;
  const Condition conditions[] = {
      {"ifGenerationMatch", preconditions.if_generation_match, generation, true},
      {"ifGenerationNotMatch", preconditions.if_generation_not_match, generation, false},
      {"ifMetagenerationMatch", preconditions.if_metageneration_match, metageneration, true},
      {"ifMetagenerationNotMatch", preconditions.if_metageneration_not_match, metageneration,
       false},
  };
  for (const Condition& condition : conditions) {
    if (!condition.wanted) continue;
    if ((*condition.wanted == condition.found) != condition.equal) {
      return errors::ConditionNotMet(condition.name, *condition.wanted, condition.found);
    }
  }
  return Ok{};
}

Status CheckMetagenerationConditions(const Preconditions& preconditions, int64_t metageneration) {
  ObjectInfo as_object;
  as_object.metageneration = metageneration;
  return CheckPreconditions(
      {.if_metageneration_match = preconditions.if_metageneration_match,
       .if_metageneration_not_match = preconditions.if_metageneration_not_match},
      &as_object);
}

}  // namespace caip::gcs
