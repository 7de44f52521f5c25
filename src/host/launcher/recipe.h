#pragma once
// The recipe of a replica as bytes: directory, hosts file, host name, argv and environment. Kept in
// a memory file, because arguments and environment may be larger than a socket message.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caip::host::launcher {

/// Two counts (argv, environment), then every text closed by a NUL: directory, hosts file, host
/// name, argv, environment.
struct RecipeHead {
  uint32_t arguments = 0;
  uint32_t variables = 0;
};

/// What a replica with namespaces of its own sees there; both "" for others.
struct Surroundings {
  std::string hosts_file;  // lies over /etc/hosts
  std::string host_name;
};

inline std::string EncodeRecipe(std::string_view directory, const Surroundings& surroundings,
                                const std::vector<std::string>& argv,
                                const std::vector<std::string>& environment) {
  const RecipeHead head{static_cast<uint32_t>(argv.size()),
                        static_cast<uint32_t>(environment.size())};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const auto add = [&bytes](std::string_view text) { bytes.append(text).push_back('\0'); };
  add(directory);
  add(surroundings.hosts_file);
  add(surroundings.host_name);
  for (const std::string& argument : argv) add(argument);
  for (const std::string& variable : environment) add(variable);
  return bytes;
}

/// Points into the bytes it was read from. argv and environment end with a null pointer.
struct Recipe {
  const char* directory = nullptr;
  const char* hosts_file = nullptr;
  const char* host_name = nullptr;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

/// False when the bytes are not a recipe.
inline bool DecodeRecipe(char* bytes, size_t size, Recipe& recipe) {
  if (size < sizeof(RecipeHead) + 1 || bytes[size - 1] != '\0') return false;
  const RecipeHead head = *reinterpret_cast<const RecipeHead*>(bytes);
  char* next = bytes + sizeof(RecipeHead);
  const auto take = [&]() -> char* {
    if (next >= bytes + size) return nullptr;
    char* text = next;
    next += std::string_view(text).size() + 1;
    return text;
  };
  recipe.directory = take();
  recipe.hosts_file = take();
  recipe.host_name = take();
  for (uint32_t i = 0; i < head.arguments; ++i) recipe.argv.push_back(take());
  for (uint32_t i = 0; i < head.variables; ++i) recipe.environment.push_back(take());
  const bool whole = next == bytes + size && !recipe.argv.empty() && recipe.host_name;
  recipe.argv.push_back(nullptr);
  recipe.environment.push_back(nullptr);
  return whole;
}

}  // namespace caip::host::launcher
