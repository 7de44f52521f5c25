#include "harness/check/file_places.h"

#include <algorithm>

#include "base/text.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

// Folders below a home or a directory for temporary files.
constexpr const char* kCaches[] = {".cache",  ".config", ".keras",    ".nv",        ".torch",
                                   ".triton", ".local",  "hypertune", ".matplotlib"};

// Adds the folder of each path in the command of a mapped image. Files there are part of the image.
void AddFoldersOf(const std::string& word, std::vector<std::string>& folders) {
  for (const std::string& part : Split(word.substr(word.find('=') + 1), ':')) {
    if (!part.starts_with('/')) continue;
    std::error_code error;
    const Path real = std::filesystem::weakly_canonical(part, error);
    const bool is_folder = std::filesystem::is_directory(real, error);
    folders.push_back(is_folder ? real.string() : real.parent_path().string());
  }
}

// Adds the folder of the interpreter: "/opt/conda" for "/opt/conda/bin/python3.7".
void AddInterpreter(const std::string& environment, std::vector<std::string>& folders) {
  if (environment.empty()) return;
  std::error_code error;
  const Path python = std::filesystem::canonical(Path(environment) / "bin" / "python", error);
  if (!error) folders.push_back(python.parent_path().parent_path().string());
}

}  // namespace

bool IsBelow(const std::string& path, const std::string& folder) {
  return !folder.empty() && folder != "/" && (path + "/").starts_with(folder + "/");
}

FilePlaces::FilePlaces(const CheckSession& session, const CheckRun& run)
    : session_(session), run_(run) {
  for (const auto& [image, command] : session.trainer.job.images) {
    for (const std::string& word : command) AddFoldersOf(word, program_);
  }
  for (const LaunchedReplica& launched : run.launched) {
    AddInterpreter(launched.Variable("VIRTUAL_ENV"), program_);
  }
}

const LaunchedReplica* FilePlaces::ReplicaOf(const TouchedFile& file) const {
  const auto found = std::find_if(
      run_.launched.begin(), run_.launched.end(),
      [&](const LaunchedReplica& launched) { return launched.replica == file.replica; });
  return found == run_.launched.end() ? nullptr : &*found;
}

std::string FilePlaces::Shown(const TouchedFile& file) const {
  const LaunchedReplica* replica = ReplicaOf(file);
  if (!replica) return file.path;
  const std::pair<std::string, const char*> places[] = {
      {replica->directory, "the current directory"},
      {replica->Variable("HOME"), "the home directory"},
      {replica->Variable("TMPDIR"), "the directory for temporary files"},
      {replica->boot_disk, "the boot disk"}};
  for (const auto& [folder, name] : places) {
    if (IsBelow(file.path, folder) && file.path.size() > folder.size()) {
      return file.path.substr(folder.size() + 1) + " in " + name;
    }
  }
  return file.path;
}

bool FilePlaces::IsOnBootDisk(const TouchedFile& file) const {
  const LaunchedReplica* replica = ReplicaOf(file);
  if (!replica) return false;
  const bool is_machine = replica->boot_disk.empty();
  return is_machine ? file.written || file.is_on_own_disk : IsBelow(file.path, replica->boot_disk);
}

bool FilePlaces::IsIncidental(const TouchedFile& file) const {
  if (ContainsAny(file.path, {"/__pycache__/", "/torchinductor_"})) return true;
  if (file.path.ends_with(".pyc")) return true;
  const LaunchedReplica* replica = ReplicaOf(file);
  if (!replica) return false;
  for (const auto& [name, value] : replica->environment) {
    const bool names = value.starts_with('/') && name != "HOME" && name != "TMPDIR";
    if (names && file.path == value) return true;
  }
  const std::string homes[] = {replica->Variable("HOME"), replica->Variable("TMPDIR"), "/tmp",
                               session_.trainer.home.string()};
  for (const std::string& home : homes) {
    for (const char* cache : kCaches) {
      if (!home.empty() && IsBelow(file.path, home + "/" + cache)) return true;
    }
  }
  return false;
}

bool FilePlaces::IsOfProgram(const TouchedFile& file) const {
  const std::string& path = file.path;
  const std::string system[] = {"/usr", "/bin", "/sbin", "/etc",  "/dev", "/proc",
                                "/sys", "/run", "/opt",  "/snap", "/nix", "/var/lib"};
  const auto holds = [&](const std::string& folder) { return IsBelow(path, folder); };
  if (path.starts_with("/lib") || std::any_of(std::begin(system), std::end(system), holds)) {
    return true;
  }
  if (std::any_of(program_.begin(), program_.end(), holds)) return true;
  return holds(session_.trainer.workshop.string()) ||
         ContainsAny(path, {"/lib/python", "/site-packages/", "/dist-packages/", ".so"}) ||
         path.ends_with("/pyvenv.cfg");
}

std::string FilePlaces::OwnerOf(const std::string& path) const {
  const CheckedTrainer& trainer = session_.trainer;
  if (trainer.source && IsBelow(path, trainer.source->string())) return "the source tree";
  if (IsBelow(path, trainer.here.string())) return "the current directory of this command";
  if (IsBelow(path, trainer.home.string())) return "your home";
  return "this machine";
}

std::vector<std::string> FindFilesOfThisHost(const CheckSession& session, const CheckRun& run) {
  const FilePlaces places(session, run);
  std::vector<std::string> lines;
  for (const TouchedFile& file : run.traces.files) {
    if (!file.read || !file.was_there || places.IsOnBootDisk(file)) continue;
    if (places.IsOfProgram(file) || places.IsIncidental(file)) continue;
    lines.push_back(file.replica + " read " + file.path + " of " + places.OwnerOf(file.path));
  }
  return lines;
}

}  // namespace caip::harness
