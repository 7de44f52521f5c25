#pragma once
// Every text of the log book that a user can read in an error is made here, and nowhere else.

#include <string>
#include <string_view>

#include "base/files.h"

namespace caip::logging {
struct FilterPlace;
}

namespace caip::logging::errors {

/// `detail` is SQLite's own sentence.
Error CannotOpen(const Path& file, int sqlite_code, const std::string& detail);
Error NotALogBook(const Path& file);
Error MadeByNewerVersion(const Path& file, int version);
Error CannotStore(const Path& file, int sqlite_code, const std::string& detail);
Error CannotRead(const Path& file, int sqlite_code, const std::string& detail);
Error ChunkDamaged(const Path& file, unsigned long long first_id);

Error WrittenDamaged(const Path& file, long long id);
Error ResourceDamaged(const Path& file, const std::string& name);
Error LogNotFound(const std::string& log_id);

// The API.
Error BodyMalformed(const std::string& why);
/// `place` is "entries[3]", or "" for the request itself.
Error MemberUnknown(const std::string& name, const std::string& place);
Error MemberMisfit(const std::string& place, const std::string& wanted);
Error MemberMissing(const std::string& name);
Error ResourceMissing(const std::string& place);
Error PayloadsDouble(const std::string& place);
Error TimeTooLate(const std::string& place, const std::string& time);
Error EntryTooLong(const std::string& place, size_t bytes, size_t bytes_max);
Error LogNameInvalid(const std::string& name);
Error ResourceNameInvalid(const std::string& name);
Error TooManyResources(size_t count, size_t most);
Error OrderInvalid(const std::string& order);
Error PageSizeNegative(long long asked);
Error PageTokenInvalid();
Error PageTokenOfAnother();
Error NotThere(const std::string& kind, const std::string& name);
Error AlreadyThere(const std::string& kind, const std::string& name);
Error NotServed(const std::string& method);

// The query language; `place` is where it is broken.
Error FilterSyntax(const FilterPlace& place, const std::string& token);  // "" the filter's end
Error FilterQuoteOpen(const FilterPlace& place);
Error FilterTooLong(size_t bytes, size_t bytes_max);
Error FilterTooDeep(const FilterPlace& place, int depth_max);
Error FilterNotUtf8();
Error FilterFieldUnknown(const FilterPlace& place, const std::string& field);
Error FilterFunctionUnknown(const FilterPlace& place, const std::string& name);
Error FilterArguments(const FilterPlace& place, const std::string& form);
Error FilterOperatorMisfit(const FilterPlace& place, const std::string& field);
Error FilterValueMisfit(const FilterPlace& place, const std::string& field,
                        const std::string& value, const std::string& wanted);
Error FilterPatternBroken(const FilterPlace& place, const std::string& pattern,
                          const std::string& why);

}  // namespace caip::logging::errors
