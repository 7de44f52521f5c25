#pragma once
// The errors of requests to the Logging API, with the service's texts where they are known.

#include <string>
#include <vector>

#include "base/result.h"

namespace caip::logging::errors {

Error BodyMalformed(const std::string& why);
Error BodyNotAnObject();
/// `place` is a path such as "entries[3]", or "" for the request itself.
Error MemberUnknown(const std::string& name, const std::string& place);
Error MemberMisfit(const std::string& place, const std::string& wanted);
Error MemberMissing(const std::string& name);
/// `kind`: "Sink". `known` lists the paths that an update mask may have.
Error MaskPathsUnknown(const std::vector<std::string>& paths, const std::string& kind,
                       const std::string& known);
Error ResourceMissing(const std::string& place);
Error PayloadsDouble(const std::string& place);
Error TimeTooLate(const std::string& place, const std::string& time);
Error EntryTooLong(const std::string& place, size_t bytes, size_t bytes_max);
/// With the labels and the resource that the entries take from the request.
Error EntriesTooLong(size_t bytes_max);
/// The first error of many. Says how many there are if not all are `shown`.
Error EntriesRefused(Error first, size_t count, size_t shown);
/// All violations of a request in one message. Says how many there are if `count` are more than
/// those of `kept`, which is not empty.
Error ManyMembersRefused(std::vector<Error> kept, size_t count);
Error LogNameInvalid(const std::string& name);
Error ResourceNameInvalid(const std::string& name);
Error TooManyResources(size_t count, size_t most);
Error OrderInvalid(const std::string& order);
Error PageSizeNegative(long long asked);
Error PageTokenInvalid();
Error PageTokenMismatch();
Error ResourceNotFound(const std::string& kind, const std::string& name);
Error ResourceExists(const std::string& kind, const std::string& name);
Error MethodNotEmulated(const std::string& method);

}  // namespace caip::logging::errors
