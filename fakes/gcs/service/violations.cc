#include "fakes/gcs/service/violations.h"

#include <utility>

#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kViolationsKept = 100;

}  // namespace

void Violations::Add(std::string_view field, Error error) {
  ++count_;
  if (kept_.size() < kViolationsKept) kept_.push_back({std::string(field), error.message});
  if (count_ == 1) first_ = std::move(error);
}

void Violations::AddRule(std::string_view field, std::string_view rule) {
  if (count_ < kViolationsKept) {
    Add(field, errors::FieldInvalid(field, rule));
  } else {
    ++count_;
  }
}

Status Violations::AsStatus() const {
  if (count_ == 0) return Ok{};
  if (count_ == 1) return first_;
  return errors::ManyFieldsInvalid(first_, kept_, count_);
}

}  // namespace caip::gcs
