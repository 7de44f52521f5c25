#include "emulator/explore/fingerprint.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/scenario/job_words.h"
#include "google/gcs_uri.h"

namespace caip::explore {
namespace {

/// A hash of a list of texts.
class Hash {
 public:
  void AddBytes(std::string_view text) { hash_ = Fnv1a(text, hash_); }
  void Add(std::string_view text) {
    AddBytes(text);
    hash_ = (hash_ ^ 256u) * kFnvPrime;  // "ab","c" is not "a","bc"
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = kFnvStart;
};

/// A hash of the files of a trainer.
class FileHash {
 public:
  explicit FileHash(const std::vector<Path>& not_ours) {
    std::error_code error;
    for (const Path& folder : not_ours) {
      not_ours_.insert(std::filesystem::weakly_canonical(folder, error));
    }
  }

  void Add(std::string_view text) { hash_.Add(text); }

  /// Adds the file as one of the folder: `name` is its path there.
  void AddFile(const Path& file, const Path& name) {
    const auto bytes = ReadFile(file);
    hash_.Add(name.string());
    hash_.Add(IsExecutable(file) ? "executable" : "");
    if (bytes.ok()) hash_.Add(*bytes);
  }
  void AddFile(const Path& file) { AddFile(file, file.filename()); }

  /// Adds all files below the folder, by their paths in it.
  void AddTree(const Path& folder) {
    std::set<Path> files;
    std::error_code error;
    using Walk = std::filesystem::recursive_directory_iterator;
    const auto options = std::filesystem::directory_options::skip_permission_denied;
    for (Walk entry(folder, options, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code gone;
      if (entry->is_directory(gone)) {
        if (IsNotOurs(entry->path())) entry.disable_recursion_pending();
      } else if (entry->is_regular_file(gone) && !IsMadeByRuns(entry->path())) {
        files.insert(entry->path());
      }
    }
    for (const Path& file : files) AddFile(file, file.lexically_relative(folder));
  }

  // Adds the folder of a program, which has the modules that it imports. Folders of the host's own
  // programs do not count.
  void AddWord(const Path& folder, const std::string& word, bool names_package) {
    hash_.Add(word);
    std::error_code error;
    const Path path = folder / word;
    if (word.empty() || google::HasGcsScheme(word)) return;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    const bool beside = word.front() != '/';
    if (is_file) AddFile(path);
    if (is_file && beside) AddTree(path.parent_path());
    const bool wanted = (beside && word.find('/') != std::string::npos) || names_package;
    if (wanted && std::filesystem::is_directory(path, error)) AddTree(path);
  }

  std::string text() const { return std::to_string(hash_.value()); }

 private:
  bool IsNotOurs(const Path& folder) const {
    static const std::set<Path> names = {".git", "__pycache__", "caip-findings", "node_modules"};
    if (names.contains(folder.filename())) return true;
    std::error_code error;
    if (std::filesystem::exists(folder / "pyvenv.cfg", error)) return true;
    return not_ours_.contains(std::filesystem::weakly_canonical(folder, error));
  }

  static bool IsExecutable(const Path& file) {
    std::error_code error;
    const auto mode = std::filesystem::status(file, error).permissions();
    return !error && (mode & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
  }

  static bool IsMadeByRuns(const Path& file) {
    return file.extension() == ".pyc" || file.filename().string().starts_with("events.out.");
  }

  std::set<Path> not_ours_;
  Hash hash_;
};

void AddWords(const harness::Scenario& scenario, FileHash& hash) {
  for (const std::string& folder : scenario::PackageFolders(scenario.words)) {
    hash.AddWord(scenario.job_folder, folder, true);
  }
  std::string before;
  for (const std::string& word : scenario.words) {
    hash.AddWord(scenario.job_folder, word, false);
    const bool is_image = before == "--map-image" || word.starts_with("--map-image=");
    for (const std::string& part : is_image ? Split(word, ' ') : std::vector<std::string>{}) {
      hash.AddWord(scenario.job_folder, part, false);
    }
    before = word;
  }
}

}  // namespace

std::string ShortHash(std::string_view text) {
  Hash hash;
  hash.AddBytes(text);
  const uint64_t value = hash.value();
  const auto folded = static_cast<uint32_t>(value ^ (value >> 32));
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[(folded >> shift) & 15u];
  return digits;
}

std::string Fingerprint(const harness::Scenario& scenario, const std::vector<Path>& not_ours) {
  FileHash hash(not_ours);
  hash.AddFile(scenario.file);
  for (const std::string& word : scenario.command) {
    hash.AddWord(scenario.command_folder(), word, false);
  }
  for (const harness::ClusterMember& member : scenario.members) {
    hash.Add(member.name);
    for (const std::string& word : member.command) {
      hash.AddWord(scenario.command_folder(), word, false);
    }
  }
  AddWords(scenario, hash);
  for (const std::string& word : scenario.arguments) hash.Add(word);
  hash.Add(CompactJson(scenario.document));
  for (const auto& [name, bucket] : scenario.buckets) {
    hash.Add(name);
    if (bucket.from) hash.AddTree(*bucket.from);
    for (const auto& [object, bytes] : bucket.objects) hash.Add(object + "\n" + bytes);
  }
  return hash.text() + " " + std::to_string(scenario.seed);
}

Path RelativeTo(const Path& folder, const Path& file) {
  std::error_code error;
  const Path from =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
  Path to = std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  if (!to.has_filename()) to = to.parent_path();  // "trainer/"
  const auto below_root = [](const Path& path) { return *path.relative_path().begin(); };
  const bool apart =
      !from.has_relative_path() || !to.has_relative_path() || below_root(from) != below_root(to);
  return apart ? to : to.lexically_relative(from);
}

}  // namespace caip::explore
