// `caip version` and `caip --version`.

#include "emulator/app/version.h"

#include <archive.h>
#include <gnu/libc-version.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <sys/utsname.h>

#include <cstring>

#include "base/json.h"
#include "emulator/app/state/stores.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

// Every version of caip reads all earlier schemas (docs/versions.md).
constexpr int64_t kOldestSchema = 1;

std::string Compiler() {
#ifdef __clang__
  return std::string("clang ") + __clang_version__;
#else
  return std::string("gcc ") + __VERSION__;
#endif
}

// Of the program: a 32-bit program on a 64-bit kernel is a 32-bit one.
std::string Architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  utsname host = {};
  ::uname(&host);
  return host.machine;
#endif
}

Json SchemasJson() {
  Json schemas = Json::object();
  for (const app::Store& store : app::Stores()) {
    schemas[std::string(store.file)] = {{"reads", {kOldestSchema, store.version}},
                                        {"writes", store.version}};
  }
  return schemas;
}

Json VersionJson() {
  return {{"version", app::kVersion},
          {"buildType", CAIP_BUILD_TYPE},
          {"compiler", Compiler()},
          {"architecture", Architecture()},
          {"libraries",
           {{"glibc", gnu_get_libc_version()},
            {"sqlite", sqlite3_libversion()},
            {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
            {"libarchive", archive_version_string() + std::strlen("libarchive ")}}},
          {"schemas", SchemasJson()},
          {"stateLayout", app::kStateLayout}};
}

std::string LongText(const Json& facts) {
  const auto text = [&](const char* name) { return StringOr(facts, name); };
  std::string long_text = "caip " + text("version") + "\n  build         " + text("buildType") +
                          ", " + text("architecture") + ", " + text("compiler") +
                          "\n  libraries     ";
  std::string separator;
  for (const auto& [name, version] : facts.at("libraries").items()) {
    long_text += separator + name + " " + version.get<std::string>();
    separator = ", ";
  }
  long_text += "\n  schemas";
  for (const app::Store& store : app::Stores()) {
    std::string file(store.file);
    file.resize(std::max<size_t>(file.size() + 1, 16), ' ');
    long_text += "\n    " + file + "writes version " + std::to_string(store.version) + ", reads " +
                 std::to_string(kOldestSchema) + " to " + std::to_string(store.version);
  }
  return long_text + "\n";
}

}  // namespace

int RunVersion(const VersionCommand& command, const Surroundings& world) {
  switch (command.form) {
    case VersionCommand::Form::kShort:
      world.io.out("caip " + std::string(app::kVersion) + "\n");
      break;
    case VersionCommand::Form::kLong:
      world.io.out(LongText(VersionJson()));
      break;
    case VersionCommand::Form::kJson:
      world.io.out(PrettyJson(VersionJson()) + "\n");
      break;
  }
  return kExitSuccess;
}

}  // namespace caip::cli
