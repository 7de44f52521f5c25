// `caip init`.

#include <filesystem>

#include "base/quoting.h"
#include "base/text.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/init/templates.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

// Nothing is written if one of the files exists.
Status WriteTemplates(const std::vector<TemplateFile>& files, const Path& folder) {
  std::vector<std::string> present;
  for (const TemplateFile& file : files) {
    std::error_code error;
    const Path path = folder / file.path;
    if (std::filesystem::exists(path, error)) present.push_back(path.string());
  }
  if (!present.empty()) return errors::FilesExist(present);
  for (const TemplateFile& file : files) {
    const Path path = folder / file.path;
    RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
    RETURN_IF_ERROR(WriteFile(path, file.text));
  }
  return Ok{};
}

std::string NextSteps(const InitCommand& command) {
  const std::string enter =
      command.folder == "." ? "" : "  cd " + ShellQuoted(command.folder) + "\n";
  return "\nNext:\n" + enter +
         "  export CLOUDSDK_CORE_PROJECT=demo\n"
         "  caip jobs submit training first_1 --package-path trainer --module-name trainer.task "
         "\\\n"
         "      --config config.yaml --region us-central1 --create-buckets \\\n"
         "      --staging-bucket gs://demo-bucket --job-dir gs://demo-bucket/first_1 "
         "--stream-logs\n"
         "  caip scenario run restarts.yaml      a machine is lost, and training resumes\n"
         "  caip explore -- --package-path trainer --module-name trainer.task --config "
         "config.yaml\n";
}

}  // namespace

int RunInit(const InitCommand& command, const Surroundings& world) {
  const std::vector<TemplateFile> files = TemplatesOf(command.kind);
  const Status written = WriteTemplates(files, command.folder);
  if (!written.ok()) return Fail(world.io, "init", written.error());
  for (const TemplateFile& file : files) {
    world.io.out((Path(command.folder) / file.path).lexically_normal().string() + "\n");
  }
  world.io.err(NextSteps(command));
  return kExitSuccess;
}

}  // namespace caip::cli
