#pragma once
// The rules that one request breaks. Private to fakes/gcs.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::gcs {

/// Collects errors, so that a response reports all of them. Keeps the first ones and counts the
/// rest, so that a request with 100,000 errors gets a short response.
class Violations {
 public:
  /// `field` is the path of the field in the body, such as "cors[0].method".
  void Add(std::string_view field, Error error);
  /// Adds errors::FieldInvalid.
  void AddRule(std::string_view field, std::string_view rule);

  bool empty() const { return count_ == 0; }
  /// The error with the messages of all, or Ok. Its code and reason are those of the first one.
  Status AsStatus() const;

 private:
  size_t count_ = 0;
  Error first_;
  std::vector<FieldViolation> kept_;
};

}  // namespace caip::gcs
