#pragma once
// Expected failures are values. A broken invariant is an assert, not an Error.

#include <cassert>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace caip {

/// Canonical codes, as google.rpc.Code names them (google/rpc/code.proto).
enum class Code {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// One broken rule: the field, and what is wrong with it.
struct FieldViolation {
  std::string field;
  std::string description;
  bool operator==(const FieldViolation&) const = default;
};

/// Why an operation failed. `message` is for people; programs decide by `code` and `reason`.
struct Error {
  Code code = Code::kUnknown;
  std::string message;
  std::vector<FieldViolation> violations = {};  // the fields that caused it
  /// A machine-readable cause that is finer than the code, such as "conditionNotMet" of Cloud
  /// Storage; "" if the code is enough.
  std::string reason = {};
  /// The HTTP status that an injected fault asks for; 0 if code and reason determine the status.
  int http_status = 0;
};

/// The value of a successful operation that returns nothing else.
struct Ok {};

/// A value, or the Error that explains why there is none. Owns what it holds. Any thread.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  /// By value: in `for (auto& x : F().value())`, x must outlive the result of F().
  T value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const {
    assert(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value: `return Ok{};`.
using Status = Result<Ok>;

#define CAIP_CONCAT_(a, b) a##b
#define CAIP_CONCAT(a, b) CAIP_CONCAT_(a, b)

/// `ASSIGN_OR_RETURN(auto x, F());` returns the error of F(), or names its value x.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(CAIP_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return result.error();                 \
  declaration = std::move(result).value()

/// `RETURN_IF_ERROR(F());` returns the error of F(), if there is one.
#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (auto&& status_ = (expression); !status_.ok()) return status_.error(); \
  } while (false)

}  // namespace caip
