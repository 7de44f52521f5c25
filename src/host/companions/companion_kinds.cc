#include <algorithm>
#include <array>

#include "base/text.h"
#include "host/companions/companions.h"
#include "host/process/child_process.h"

namespace caip::host {
namespace {

std::string Address(const CompanionStart& start) {
  return start.address + ":" + std::to_string(start.port);
}

std::string Port(const CompanionStart& start) { return std::to_string(start.port); }

std::vector<std::string> BigtableCommand(const CompanionStart& start) {
  return {start.program, "-host=" + start.address, "-port=" + Port(start)};
}

// The emulator needs a directory that its own `create` command has created.
std::vector<std::string> DatastoreCommand(const CompanionStart& start) {
  constexpr const char* kScript =
      "rm -rf \"$2\" && \"$0\" create --project_id=\"$3\" \"$2\" && exec \"$0\" start "
      "--host=\"$4\" --port=\"$1\" --store_on_disk=False --consistency=1.0 \"$2\"";
  return {"/bin/sh",     "-c",         kScript,
          start.program, Port(start),  (start.data / "data").string(),
          start.project, start.address};
}

std::vector<std::string> FirestoreCommand(const CompanionStart& start) {
  return {start.program, "start", "--host=" + start.address, "--port=" + Port(start)};
}

std::vector<std::string> PubsubCommand(const CompanionStart& start) {
  return {start.program, "--host=" + start.address, "--port=" + Port(start)};
}

std::vector<std::string> SpannerCommand(const CompanionStart& start) {
  return {start.program, "--host_port", Address(start)};
}

template <size_t N>
struct Literal {
  constexpr Literal(const char (&text)[N]) { std::copy_n(text, N, value); }  // NOLINT: implicit
  char value[N];
};

template <Literal kName>
engine::Environment HostVariable(const CompanionStart& start) {
  return {{kName.value, Address(start)}};
}

engine::Environment DatastoreVariables(const CompanionStart& start) {
  return {{"DATASTORE_DATASET", start.project},
          {"DATASTORE_EMULATOR_HOST", Address(start)},
          {"DATASTORE_EMULATOR_HOST_PATH", Address(start) + "/datastore"},
          {"DATASTORE_HOST", "http://" + Address(start)},
          {"DATASTORE_PROJECT_ID", start.project}};
}

constexpr std::array<CompanionKind, 5> kKinds = {{
    {"bigtable", "platform/bigtable-emulator/cbtemulator", "cbtemulator", false, BigtableCommand,
     HostVariable<"BIGTABLE_EMULATOR_HOST">},
    {"datastore", "platform/cloud-datastore-emulator/cloud_datastore_emulator",
     "cloud_datastore_emulator", true, DatastoreCommand, DatastoreVariables},
    {"firestore", "platform/cloud-firestore-emulator/cloud_firestore_emulator",
     "cloud_firestore_emulator", true, FirestoreCommand, HostVariable<"FIRESTORE_EMULATOR_HOST">},
    {"pubsub", "platform/pubsub-emulator/bin/cloud-pubsub-emulator", "cloud-pubsub-emulator", true,
     PubsubCommand, HostVariable<"PUBSUB_EMULATOR_HOST">},
    {"spanner", "bin/cloud_spanner_emulator/emulator_main", "emulator_main", false, SpannerCommand,
     HostVariable<"SPANNER_EMULATOR_HOST">},
}};

std::vector<Path> Roots(const CompanionSearch& search) {
  if (search.sdk_root) return {*search.sdk_root};
  std::vector<Path> roots;
  if (const Path gcloud = FindProgram("gcloud", search.path); !gcloud.empty()) {
    std::error_code failed;
    const Path real = std::filesystem::canonical(gcloud, failed);
    if (!failed) roots.push_back(real.parent_path().parent_path());
  }
  for (const char* root : {"/usr/lib/google-cloud-sdk", "/usr/share/google-cloud-sdk",
                           "/opt/google-cloud-sdk", "/snap/google-cloud-cli/current"}) {
    roots.emplace_back(root);
  }
  if (!search.home.empty()) roots.push_back(search.home / "google-cloud-sdk");
  return roots;
}

}  // namespace

const CompanionKind* CompanionNamed(std::string_view name) {
  for (const CompanionKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::vector<std::string> CompanionNames() {
  std::vector<std::string> names;
  for (const CompanionKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Path FindCompanion(std::string_view name, const CompanionSearch& search) {
  const CompanionKind* kind = CompanionNamed(name);
  if (!kind) return {};
  for (const Path& root : Roots(search)) {
    const Path program = root / kind->below_root;
    if (IsProgram(program.string())) return program;
  }
  return FindProgram(std::string(kind->on_path), search.path);
}

}  // namespace caip::host
