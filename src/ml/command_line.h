#pragma once
// What a replica runs: its final arguments, and the command they are given to
// (docs/service/replica-environment.md, section 5).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ml/job.h"
#include "tuning/space.h"

namespace caip::ml {

/// The arguments of every replica, whatever its role: the job's args as they are, `--NAME VALUE`
/// for each hyperparameter in the order of the spec, `--job-dir PATH` last. `trial` is "" outside
/// tuning. `job_dir` stands in for the input's where it is not "" (`--storage-view path`).
std::vector<std::string> FinalArguments(const TrainingInput& input, std::string_view trial = {},
                                        const tuning::ValueTexts& values = {},
                                        std::string_view job_dir = {});

/// PATH of `--job-dir`: the directory itself, or `<directory>/<trial>`; "" without a directory.
std::string JobDirOf(std::string_view job_dir, std::string_view trial);

/// `interpreter -m module args...`.
std::vector<std::string> PythonCommand(std::string interpreter, const std::string& module,
                                       const std::vector<std::string>& arguments);

/// "python3 -m trainer.task --epochs 2": what the launcher logs, with the service's name of the
/// interpreter whatever its path is here. A plain join with blanks.
std::string PythonCommandText(std::string_view python_version, const std::string& module,
                              const std::vector<std::string>& arguments);

}  // namespace caip::ml
