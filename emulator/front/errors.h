#pragma once
// The texts of mistakes that the front end finds before any API sees the request.

#include <filesystem>
#include <string>

#include "base/errors.h"
#include "http/server.h"

namespace caip::front::errors {

Error CannotWriteAccessLog(const std::filesystem::path& file, int error_number);

/// The warning about a program that does not trust the certificates. `bundle`: the file that it
/// must trust.
std::string CertificateRejected(const http::CertificateRejection& rejection,
                                const std::filesystem::path& bundle);
/// The same about a program on a machine. `bundle`: as the machine sees it.
std::string CertificateRejectedOnMachine(const http::CertificateRejection& rejection,
                                         const std::filesystem::path& bundle);

// Why a selector of the parameter `fields` is not valid (api::errors::SelectorBroken).
inline constexpr const char* kSelectorTooLong = "it is too long";
inline constexpr const char* kSelectorTooDeep = "it is nested too deeply";
inline constexpr const char* kSelectorContinues = "a ',' or the end is expected";
inline constexpr const char* kSelectorWithoutName = "the name of a field is expected";
inline constexpr const char* kSelectorOpen = "a ')' is expected";

}  // namespace caip::front::errors
