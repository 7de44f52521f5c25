#include "emulator/cli/packaging_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "emulator/cli/errors.h"
#include "host/child_process.h"

namespace caip::cli {
namespace {

namespace fs = std::filesystem;

// Ships the package itself and no sub-package: that is what gcloud's generated file does.
std::string GeneratedSetup(const std::string& package) {
  return "from setuptools import setup, find_packages\n\nif __name__ == '__main__':\n    setup(\n"
         "        name='" +
         package + "',\n        packages=find_packages(include=['" + package + "'])\n    )\n";
}

/// A setup.py that is there as long as this is. Does nothing where the root has its own.
class SetupFile {
 public:
  static Result<SetupFile> In(const Path& root, const std::string& package) {
    const Path path = root / "setup.py";
    if (fs::is_regular_file(path)) return SetupFile();
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd.valid()) return SystemError("cannot write '" + path.string() + "'", errno);
    SetupFile setup;
    setup.path_ = path;
    const std::string text = GeneratedSetup(package);
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return SystemError("cannot write '" + path.string() + "'", errno);
    }
    return setup;
  }
  SetupFile(SetupFile&& other) noexcept : path_(std::exchange(other.path_, Path())) {}
  SetupFile& operator=(SetupFile&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~SetupFile() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(path_.parent_path() / "setup.pyc", ignored);
  }
  bool generated() const { return !path_.empty(); }

 private:
  SetupFile() = default;
  Path path_;
};

bool IsWritable(const Path& directory) {
  return ::access(directory.c_str(), R_OK | W_OK | X_OK) == 0;
}

Result<Path> WritableRoot(const Path& root, const Path& scratch) {
  if (!fs::is_directory(root)) return errors::SourceDirectoryInvalid(root.string());
  if (IsWritable(root)) return root;
  const Path copy = scratch / "dest";
  std::error_code error;
  fs::copy(root, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return errors::RootNotCopied(root.string(), error.message());
  fs::permissions(copy, fs::perms::owner_all, fs::perm_options::add, error);
  return copy;
}

// Fewest left-overs first; plain distutils scripts know only the last.
std::vector<std::vector<std::string>> ArgumentSets(const Path& output, const Path& scratch) {
  const std::vector<std::string> sdist = {"sdist", "--dist-dir", output.string()};
  std::vector<std::string> build = {"build", "--build-base", scratch.string(), "--build-temp",
                                    scratch.string()};
  build.insert(build.end(), sdist.begin(), sdist.end());
  std::vector<std::string> all = {"egg_info", "--egg-base", scratch.string()};
  all.insert(all.end(), build.begin(), build.end());
  return {all, build, sdist};
}

// One attempt; what it said.
Result<bool> RunSetup(const std::string& python, const Path& root,
                      const std::vector<std::string>& arguments, std::string& said) {
  host::Tool tool;
  tool.argv = {python, (root / "setup.py").string()};
  tool.argv.insert(tool.argv.end(), arguments.begin(), arguments.end());
  tool.environment = host::OwnEnvironment();
  tool.directory = root.string();
  said.clear();
  tool.on_line = [&said](host::ToolStream, std::string_view line) {
    said.append(line);
    said += '\n';
  };
  ASSIGN_OR_RETURN(const host::ToolResult result, host::RunTool(tool));
  return result.ok();
}

Status RunSomeSetup(const Path& root, const Path& output, const Path& scratch, bool generated) {
  const std::vector<std::string> pythons = BuildPythons();
  if (pythons.empty()) return errors::NoPython("neither python3 nor python was found");
  std::string said;
  for (const auto& arguments : ArgumentSets(output, scratch)) {
    for (const std::string& python : pythons) {
      ASSIGN_OR_RETURN(const bool built, RunSetup(python, root, arguments, said));
      if (built) return Ok{};
    }
  }
  return errors::BuildFailed(said, generated);
}

std::string OnPath(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  }
  const char* path = std::getenv("PATH");
  for (const std::string& directory : Split(path ? path : "/usr/bin:/bin", ':')) {
    const Path candidate = Path(directory.empty() ? "." : directory) / program;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) {
      return candidate.string();
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> BuildPythons() {
  std::vector<std::string> pythons;
  const char* chosen = std::getenv("CLOUDSDK_PYTHON");
  for (const std::string& name : {std::string(chosen ? chosen : ""), std::string("python3"),
                                  std::string("python"), std::string("/usr/bin/python3")}) {
    const std::string found = name.empty() ? "" : OnPath(name);
    if (!found.empty() && std::count(pythons.begin(), pythons.end(), found) == 0) {
      pythons.push_back(found);
    }
  }
  return pythons;
}

Result<std::vector<Path>> BuildPackage(const Path& root, const std::string& package,
                                       const Path& output, const Path& scratch) {
  ASSIGN_OR_RETURN(const Path writable, WritableRoot(root, scratch));
  if (!fs::exists(root / package / "__init__.py")) {
    return errors::MissingInit((root / package).string());
  }
  // Two builds of one root would take each other's generated setup.py for the user's own.
  const Fd lock(::open(writable.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.valid()) ::flock(lock.get(), LOCK_EX);
  ASSIGN_OR_RETURN(const SetupFile setup, SetupFile::In(writable, package));
  RETURN_IF_ERROR(MakeDirectories(scratch / "build"));
  RETURN_IF_ERROR(RunSomeSetup(writable, output, scratch / "build", setup.generated()));
  std::vector<Path> built;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(output, error)) built.push_back(entry.path());
  if (built.empty()) return errors::BuildMadeNothing();
  std::sort(built.begin(), built.end());
  return built;
}

}  // namespace caip::cli
