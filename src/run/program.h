#pragma once
// What a replica runs.

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace caip::run {

/// A command of the host, whole but for the replica's arguments.
struct LocalCommand {
  std::vector<std::string> words;
  bool operator==(const LocalCommand&) const = default;
};

/// A module of Python packages. The packager installs them and names the interpreter.
struct PythonModule {
  std::string module;
  std::vector<std::string> package_uris;
  std::string software_version;  // of the preinstalled software that the job asks for; "": none
  std::string python_version;
  bool is_python_default = false;  // the job names no Python version
  bool operator==(const PythonModule&) const = default;
};

/// A container image and what the job makes it run.
struct ContainerImage {
  std::string uri;
  /// The program of the image: the command of the host that Launcher::Resolve has answered, or the
  /// ENTRYPOINT that the packager found in the image.
  std::vector<std::string> entrypoint = {};
  std::vector<std::string> command = {};       // replaces the entrypoint; empty: it stays
  std::vector<std::string> args = {};          // come after it
  std::vector<std::string> default_args = {};  // of the image (CMD), where the job gives none
  /// Where Launcher::Resolve has found the image, in the launcher's own words; "": under its URI.
  std::string source = {};
  bool operator==(const ContainerImage&) const = default;
};

using Environment = std::vector<std::pair<std::string, std::string>>;  // in order, names unique

using Program = std::variant<LocalCommand, PythonModule, ContainerImage>;

/// The whole command line, argv[0] first. `interpreter` is the path of python for a PythonModule.
/// Empty where a container image has no known program.
std::vector<std::string> CommandLine(const Program& program, const std::string& interpreter,
                                     const std::vector<std::string>& arguments);

}  // namespace caip::run
