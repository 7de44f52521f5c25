#pragma once
// What the filter of one list method may name, and how its errors say so.

#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "google/message_schema.h"

namespace caip::google {

/// A field of the resource that a filter may name, with all fields below it.
struct FilterField {
  std::string_view proto_name;
  /// The operators that it takes, as ": = !="; "" all that its type has.
  std::string_view operators = {};
};

/// Lives as long as the process.
struct FilterLanguage {
  const MessageSchema& resource;
  std::span<const FilterField> fields;
  std::string_view fields_in_words;  // "jobId, state or labels.KEY"
  std::string_view example;          // "jobId:census* or state=FAILED"
  /// Times of the resource are compared as a client sees them: in whole units.
  Duration time_unit;
  /// A `*` stands for any text, anywhere in a value of `:`, and in quotes, too.
  bool has_stars_in_quotes = false;
  /// The error for a filter that is broken at `offset`.
  Error (*broken)(std::string_view filter, size_t offset, std::string_view why);
};

}  // namespace caip::google
