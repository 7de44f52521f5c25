#pragma once
// The `fields` parameter of a request: the parts of the answer to send.
// https://cloud.google.com/storage/docs/json_api#partial-response
//
//   selection := item { "," item }
//   item      := path [ "(" selection ")" ]
//   path      := name { ("/" | ".") name }        a name may be "*": every field

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::front {

/// A parsed `fields`. Immutable; any thread.
class FieldSelection {
 public:
  /// kInvalidArgument names the position of a syntax error.
  static Result<FieldSelection> Parse(std::string_view text);
  FieldSelection(FieldSelection&&) noexcept;
  FieldSelection& operator=(FieldSelection&&) noexcept;
  ~FieldSelection();

  /// kInvalidArgument for a path that messages of this type do not have. `schemas` has the types.
  Status CheckAgainst(const Json& schemas, const std::string& message) const;
  /// The selected part of an answer. Selections apply to each element of a list.
  Json Of(const Json& answer) const;

 private:
  struct Node;
  friend class SelectionReader;
  explicit FieldSelection(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

}  // namespace caip::front
