#pragma once
// Variables as the shells and tools that are to have them read them.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

enum class VariablesFormat { kShell, kDotenv, kJson, kGithub, kPowershell };

/// "shell", "dotenv", "json", "github", "powershell".
std::optional<VariablesFormat> VariablesFormatNamed(std::string_view name);
const std::vector<std::string>& VariablesFormatNames();

/// Sets them. github: lines for the file that $GITHUB_ENV names.
std::string SetText(const Variables& variables, VariablesFormat format);
/// Takes them back. dotenv, github: sets them to nothing, which is all these can say; json: null.
std::string UnsetText(const Variables& variables, VariablesFormat format);

}  // namespace caip::cli
