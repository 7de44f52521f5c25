#include "fakes/gcs/store/preconditions.h"

#include "fakes/gcs/errors.h"

namespace caip::gcs {

Status CheckPreconditions(const Preconditions& preconditions, const ObjectInfo* live) {
  struct Condition {
    const char* name;
    const std::optional<int64_t>& wanted;
    int64_t found;
    bool equal;
  };
  // An object that is not there has generation 0; so if...NotMatch=0 asks for one that is.
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
