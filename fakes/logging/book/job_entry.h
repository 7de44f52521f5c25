#pragma once
// A job's entry as the service's LogEntry (docs/service/replica-environment.md, section 6).

#include "base/json_fwd.h"
#include "fakes/logging/book/log_book.h"

namespace caip::logging {

/// Lines of replicas have a jsonPayload as the service's launcher writes it, lines of the service a
/// textPayload.
Json LogEntryOf(const Entry& entry);

}  // namespace caip::logging
