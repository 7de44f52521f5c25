#pragma once
// The scripts that connect a shell's completion with caip. Each one asks `caip __complete`, so all
// shells offer the same words.

#include <string>
#include <vector>

namespace caip::cli {

/// bash, fish and zsh.
std::vector<std::string> CompletedShells();

/// "" for another shell.
std::string CompletionScript(const std::string& shell);

}  // namespace caip::cli
