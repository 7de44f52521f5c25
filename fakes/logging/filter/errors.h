#pragma once
// The errors of filters, with the service's texts where they are known.

#include <string>

#include "base/result.h"
#include "fakes/logging/filter/tokens.h"

namespace caip::logging::errors {

/// `why` is RE2's message.
Error PatternInvalid(const std::string& why);

// `place` is where the filter is broken.
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
