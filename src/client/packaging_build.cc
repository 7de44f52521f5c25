#include "client/packaging_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "client/errors.h"
#include "host/process/child_process.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;

// Packs the package itself without sub-packages, as the file that gcloud generates does.
std::string GeneratedSetup(const std::string& package) {
  return "from setuptools import setup, find_packages\n\nif __name__ == '__main__':\n    setup(\n"
         "        name='" +
         package + "',\n        packages=find_packages(include=['" + package + "'])\n    )\n";
}

// Whether an earlier build made the file, so that a build may overwrite it.
bool IsBuildsOwn(const std::string& name) {
  return name == "setup.py" || name == "setup.pyc" || name.ends_with(".egg-info") ||
         name.ends_with("-0.0.0");
}

// Creates a copy of a root without setup.py: a generated setup.py and links to the root's files. So
// an interrupted or concurrent build neither leaves files in the user's tree nor sees those of
// another. setuptools follows the links and packs the same bytes.
Result<Path> RootWithSetup(const Path& root, const std::string& package, const Path& scratch) {
  const Path linked = scratch / "tree";
  RETURN_IF_ERROR(MakeDirectories(linked));
  std::error_code error;
  for (fs::directory_iterator it(root, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (IsBuildsOwn(it->path().filename())) continue;
    fs::create_symlink(it->path(), linked / it->path().filename(), error);
    if (error) break;
  }
  if (error) return errors::RootNotCopied(root.string(), error.message());
  const Path setup = linked / "setup.py";
  const Fd fd(::open(setup.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid() || !WriteAll(fd.get(), GeneratedSetup(package))) {
    return CannotWrite(setup, errno);
  }
  return linked;
}

bool IsWritable(const Path& directory) {
  return ::access(directory.c_str(), R_OK | W_OK | X_OK) == 0;
}

// A directory in which the root's own setup.py can write beside itself.
Result<Path> WritableRoot(const Path& root, const Path& scratch) {
  if (IsWritable(root)) return root;
  const Path copy = scratch / "dest";
  std::error_code error;
  fs::copy(root, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return errors::RootNotCopied(root.string(), error.message());
  fs::permissions(copy, fs::perms::owner_all, fs::perm_options::add, error);
  return copy;
}

// The set that leaves the fewest files comes first. Plain distutils scripts accept only the last
// set.
std::vector<std::vector<std::string>> ArgumentSets(const Path& output, const Path& scratch) {
  const std::vector<std::string> sdist = {"sdist", "--dist-dir", output.string()};
  std::vector<std::string> build = {"build", "--build-base", scratch.string(), "--build-temp",
                                    scratch.string()};
  build.insert(build.end(), sdist.begin(), sdist.end());
  std::vector<std::string> all = {"egg_info", "--egg-base", scratch.string()};
  all.insert(all.end(), build.begin(), build.end());
  return {all, build, sdist};
}

// Makes one attempt. Stores its output in `said`.
Result<bool> RunSetup(const std::string& python, const Path& root,
                      const std::vector<std::string>& arguments, const std::stop_token& stop,
                      std::string& said) {
  host::Tool tool;
  tool.argv = {python, (root / "setup.py").string()};
  tool.argv.insert(tool.argv.end(), arguments.begin(), arguments.end());
  tool.environment = host::OwnEnvironment();
  tool.directory = root.string();
  tool.is_guarded = true;
  said.clear();
  tool.on_line = [&said](host::ToolStream, std::string_view line) {
    said.append(line);
    said += '\n';
  };
  tool.stop = stop;
  ASSIGN_OR_RETURN(const host::ToolResult result, host::RunTool(tool));
  if (result.stopped) return errors::BuildInterrupted();
  return result.ok();
}

Status RunSomeSetup(const Path& root, const Path& output, const Path& scratch, bool generated,
                    const std::stop_token& stop) {
  const std::vector<std::string> pythons = BuildPythons();
  if (pythons.empty()) return errors::NoPython("neither python3 nor python was found");
  std::string said;
  for (const auto& arguments : ArgumentSets(output, scratch)) {
    for (const std::string& python : pythons) {
      ASSIGN_OR_RETURN(const bool built, RunSetup(python, root, arguments, stop, said));
      if (built) return Ok{};
    }
  }
  return errors::BuildFailed(said, generated);
}

}  // namespace

std::vector<std::string> BuildPythons() {
  std::vector<std::string> pythons;
  const char* chosen = std::getenv("CLOUDSDK_PYTHON");
  const char* path = std::getenv("PATH");
  for (const std::string& name : {std::string(chosen ? chosen : ""), std::string("python3"),
                                  std::string("python"), std::string("/usr/bin/python3")}) {
    const std::string found =
        name.empty() ? "" : host::FindProgram(name, path ? path : "/usr/bin:/bin");
    if (!found.empty() && std::count(pythons.begin(), pythons.end(), found) == 0) {
      pythons.push_back(found);
    }
  }
  return pythons;
}

Result<std::vector<Path>> BuildPackage(const Path& root, const std::string& package,
                                       const Path& output, const Path& scratch,
                                       std::stop_token stop) {
  std::error_code error;
  if (!fs::is_directory(root, error)) return errors::SourceDirectoryInvalid(root.string());
  if (!fs::exists(root / package / "__init__.py", error)) {
    return errors::MissingInit((root / package).string());
  }
  const bool generated = !fs::is_regular_file(root / "setup.py", error);
  ASSIGN_OR_RETURN(const Path place,
                   generated ? RootWithSetup(root, package, scratch) : WritableRoot(root, scratch));
  // Two builds of one root would overwrite each other's files.
  const Fd lock(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.valid()) ::flock(lock.get(), LOCK_EX);
  RETURN_IF_ERROR(MakeDirectories(scratch / "build"));
  RETURN_IF_ERROR(RunSomeSetup(place, output, scratch / "build", generated, stop));
  std::vector<Path> built;
  for (const auto& entry : fs::directory_iterator(output, error)) built.push_back(entry.path());
  if (built.empty()) return errors::BuildMadeNothing();
  std::sort(built.begin(), built.end());
  return built;
}

}  // namespace caip::client
