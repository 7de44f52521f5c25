#pragma once
// X-HTTP-Method-Override: how clients whose HTTP library knows no PATCH send one (Google's for
// Java), and how those with a query too long for a URL send it as a form (Google's for Python).

#include <optional>

#include "http/message.h"

namespace caip::http {

/// The request that this POST stands for; nullopt where it stands for itself. The query of a GET
/// that travels as a form is read from the body; the body of what is answered is then at its end.
std::optional<Request> Overridden(const Request& request);

}  // namespace caip::http
