"""Deliberate breaks of what serves Vertex AI; mutants.py describes the form."""

VALIDATE = 'src/vertex/validate/validate.cc'
POOLS = 'src/vertex/validate/validate_pools.cc'
PROGRAM = 'src/vertex/validate/validate_program.cc'
NFS_MOUNTS = 'src/vertex/nfs_mounts.cc'
PLACE = 'src/vertex/validate/validate_place.cc'
TUNING = 'src/vertex/validate/validate_tuning.cc'
ENVIRONMENT = 'src/vertex/environment.cc'
TEXTS = 'src/vertex/run_texts.cc'
RENDER = 'src/vertex/render.cc'
TRIALS = 'src/vertex/trials.cc'
JOB = 'src/vertex/custom_training_job.cc'
RUN_SPEC = 'src/vertex/to_run_spec.cc'
PIPELINE = 'src/vertex/training_pipeline.cc'
FILTER = 'src/vertex/filter/custom_job_filter.cc'
METHODS = 'emulator/api/vertex/job_methods.cc'
JOBS = 'emulator/api/vertex/vertex_jobs.cc'
ROUTES = 'emulator/api/vertex/vertex_routes.cc'
MASK = 'emulator/api/vertex/read_mask.cc'

VERTEX_MUTANTS = [
    # Names, labels, the list of errors.
    ('vertex_name_unlimited', 'vertex-spec', VALIDATE, 'length > kDisplayNameMax', 'false'),
    ('vertex_name_in_bytes', 'vertex-spec', VALIDATE, 'DecodeUtf8(job.display_name).size()', 'job.display_name.size()'),
    ('vertex_name_optional', 'vertex-spec', VALIDATE, 'length == 0', 'false'),
    ('vertex_labels_uncounted', 'vertex-labels', VALIDATE, 'job.labels.size() > google::kLabelsMax', 'false'),
    ('vertex_label_values_unread', 'vertex-labels', VALIDATE, '!google::IsLabelValue(value)', 'false'),
    ('vertex_plain_among_others', 'vertex-machines', VALIDATE, 'broken.size() == 1', '!broken.empty()'),
    ('vertex_unserved_last', 'vertex-refusals', VALIDATE, '!unserved.empty()', '!unserved.empty() && broken.empty()'),
    ('vertex_any_resource', 'vertex-spec', VALIDATE, 'resource.empty()', 'true'),
    # Pools and machines.
    ('vertex_five_pools', 'vertex-pools', POOLS, 'pools.size() > kPoolsMax', 'false'),
    ('vertex_two_chiefs', 'vertex-pools', POOLS, 'exam.index == 0 && count != 1', 'exam.index == 0 && count <= 0'),
    ('vertex_pool_below_zero', 'vertex-pools', POOLS, 'count < 1', 'false'),
    ('vertex_count_alone', 'vertex-machines', POOLS, 'has_type != (count > 0)', 'has_type && count <= 0'),
    ('vertex_count_below_zero', 'vertex-machines', POOLS, 'count < 0', 'false'),
    ('vertex_own_unnamed', 'vertex-machines', POOLS, '!machine->has_own', 'true'),
    ('vertex_any_count', 'vertex-machines', POOLS, '!legal->second.Has(count)', 'false'),
    ('vertex_any_machine', 'vertex-machines', POOLS, 'exam.Machine() == nullptr) {\n    const std::string nearest', None),
    ('vertex_small_disk', 'vertex-pools', POOLS, 'size < kBootDiskGbMin', 'size < kBootDiskGbMin - 1'),
    ('vertex_any_disk', 'vertex-pools', POOLS, '!disk.boot_disk_type.empty() && !is_known', 'false'),
    # Programs.
    ('vertex_args_in_bytes', 'vertex-pools', PROGRAM, 'DecodeUtf8(arg).size()', 'arg.size()'),
    ('vertex_args_unlimited', 'vertex-pools', PROGRAM, 'length > kArgsMax', 'false'),
    ('vertex_101_variables', 'vertex-pools', PROGRAM, 'env.size() > kEnvVarsMax', 'env.size() > kEnvVarsMax + 1'),
    ('vertex_digit_first', 'vertex-pools', PROGRAM, 'name.empty() || IsDigit(name.front())', 'name.empty()'),
    ('vertex_variable_twice', 'vertex-pools', PROGRAM, 'names.insert(env[i].name).second && is_unique', 'is_unique'),
    ('vertex_two_tasks', 'vertex-pools', PROGRAM, 'pool.container && pool.python_package', 'false'),
    ('vertex_101_packages', 'vertex-pools', PROGRAM, 'uris.size() > kPackagesMax', 'uris.size() > kPackagesMax + 1'),
    ('vertex_directory_as_package', 'vertex-pools', PROGRAM, "parsed->object.empty() || parsed->object.ends_with('/')",
     'parsed->object.empty()'),
    ('vertex_mount_anywhere', 'vertex-pools', NFS_MOUNTS, "if (below.starts_with('/')) return std::nullopt;", ''),
    # Scheduling and place.
    ('vertex_timeout_zero', 'vertex-spec', PLACE, '*scheduling.timeout <= Duration(0)', '*scheduling.timeout < Duration(0)'),
    ('vertex_flex_start_unequal', 'vertex-spec', PLACE, 'machine.machine_type != first->machine_type', 'false'),
    ('vertex_flex_start_for_long', 'vertex-spec', PLACE, '*timeout > kFlexStartTimeoutMax', 'false'),
    ('vertex_spot_pod', 'vertex-spec', PLACE, 'machine->accelerator_count <= kTpuDeviceMax', 'true'),
    ('vertex_board_alone', 'vertex-spec', PLACE, '!spec.tensorboard.empty() && spec.service_account.empty()', 'false'),
    ('vertex_any_account', 'vertex-spec', PLACE, '!google::IsServiceAccount(spec.service_account)', 'false'),
    # Studies.
    ('vertex_grid_of_doubles', 'vertex-study', TUNING, 'study_.IsGrid()', 'false'),
    ('vertex_bounds_reversed', 'vertex-study', TUNING, 'least > most', 'false'),
    ('vertex_log_of_zero', 'vertex-study', TUNING, 'least > 0', 'least >= 0'),
    ('vertex_values_too_close', 'vertex-study', TUNING, 'values[i] - values[i - 1] < kDiscreteValueGapMin',
     'values[i] - values[i - 1] <= 0'),
    ('vertex_more_failed_than_all', 'vertex-study', TUNING, 'job.max_trials > 0 && job.max_failed > job.max_trials', 'false'),
    ('vertex_trials_on_tpus', 'vertex-study', TUNING, '!machine || !IsTpu(machine->accelerator_type)', 'true'),
    ('vertex_metric_without_goal', 'vertex-study', TUNING, '!study_.metrics[i].HasGoal()', 'false'),
    ('vertex_condition_on_anything', 'vertex-study', TUNING, 'if (HasValue(parent, value)) continue;', 'continue;'),
    # What replicas see.
    ('vertex_tf_config_always', 'vertex-environment', ENVIRONMENT, 'facts.plan.size() > 1', 'true'),
    ('vertex_index_from_one', 'vertex-environment', ENVIRONMENT, 'std::to_string(facts.replica.index)',
     'std::to_string(facts.replica.index + 1)'),
    ('vertex_signs_unescaped', 'vertex-environment', ENVIRONMENT, 'safe += "\\\\u003d";', 'safe += c;'),
    ('vertex_trials_share_output', 'vertex-tuning', ENVIRONMENT,
     'facts.trial.empty() ? facts.output_directory : facts.output_directory + facts.trial + "/"', 'facts.output_directory'),
    ('vertex_project_id', 'vertex-environment', ENVIRONMENT, 'out.emplace_back("CLOUD_ML_PROJECT_ID", facts.project_number);',
     'out.emplace_back("CLOUD_ML_PROJECT_ID", facts.project_id);'),
    ('vertex_all_are_containers', 'vertex-environment', ENVIRONMENT,
     'if (facts.pool().container) out.emplace_back("AIP_USE_CUSTOM_CONTAINER", "true");',
     'out.emplace_back("AIP_USE_CUSTOM_CONTAINER", "true");'),
    ('vertex_unknown_variable_empty', 'vertex-environment', ENVIRONMENT,
     'found == known.end() ? text.substr(0, end + 1) : std::string_view(found->second)',
     'found == known.end() ? std::string_view() : std::string_view(found->second)'),
    ('vertex_escape_ignored', 'vertex-environment', ENVIRONMENT, 'text.remove_prefix(text.starts_with("$$") ? 2 : 1);',
     'text.remove_prefix(1);'),
    # The life of a job.
    ('vertex_no_reason', 'vertex-exits', TEXTS, 'text += "Termination reason: Error. \\n" + reduced + "\\n\\n";',
     'text += reduced + "\\n\\n";'),
    ('vertex_wrong_status', 'vertex-logs', TEXTS, '"returned non-zero exit status " + std::to_string(status) + "."',
     '"returned non-zero exit status " + std::to_string(status + 1) + "."'),
    ('vertex_cancelled_code', 'vertex-life', RENDER, 'return Code::kCancelled;', 'return Code::kInvalidArgument;'),
    ('vertex_timeout_code', 'vertex-life', RENDER, 'return Code::kDeadlineExceeded;', 'return Code::kCancelled;'),
    ('vertex_never_updated', 'vertex-life', RENDER, 'if (job.end_time) return job.end_time;', ';'),
    ('vertex_project_in_names', 'vertex-resources', RENDER,
     'options.project_number.empty() ? job.key.project : options.project_number', 'job.key.project'),
    ('vertex_worker_restart_ignored', 'vertex-exits', RUN_SPEC,
     'scheduling.restart_job_on_worker_restart && !scheduling.disable_retries', 'false'),
    ('vertex_retries_always', 'vertex-exits', RUN_SPEC, 'policy.job_retries_max = 0;', ';'),
    ('vertex_timeout_ignored', 'vertex-life', RUN_SPEC, 'if (scheduling.timeout) limits.max_running = *scheduling.timeout;', ';'),
    # Trials and pipelines.
    ('vertex_failed_trial_succeeds', 'vertex-tuning', RENDER, 'return "INFEASIBLE";', 'return "SUCCEEDED";'),
    ('vertex_worst_trial', 'vertex-pipelines', TRIALS, 'stored.job.study->metrics.front().goal == "MINIMIZE"',
     'stored.job.study->metrics.front().goal != "MINIMIZE"'),
    ('vertex_trials_backwards', 'vertex-tuning', TRIALS, 'std::ranges::sort(trials, {}, NumberOfTrial);',
     'std::ranges::sort(trials, std::ranges::greater(), NumberOfTrial);'),
    ('vertex_trial_without_values', 'vertex-tuning', TRIALS, 'pool[task]["args"].push_back(argument);', ';'),
    ('vertex_values_first', 'vertex-tuning', JOB, 'arguments.push_back(std::move(word));',
     'arguments.insert(arguments.begin(), std::move(word));'),
    ('vertex_any_definition', 'vertex-refusals', PIPELINE,
     'definition.empty() || definition.ends_with(kCustomTask) || definition.ends_with(kTuningTask)', 'true'),
    ('vertex_doubles_stay', 'vertex-pipelines', PIPELINE, 'if (!value.is_number_float()) return value;', 'return value;'),
    ('vertex_model_ignored', 'vertex-refusals', PIPELINE, 'HasMembers(pipeline.plain, "model_to_upload")', 'false'),
    ('vertex_empty_model_refused', 'vertex-refusals', PIPELINE, 'value != nullptr && !value->empty()', 'value != nullptr'),
    # Methods.
    ('vertex_filter_without_name', 'vertex-filters', FILTER, 'plain["display_name"] = StringOr(kept, "displayName");',
     'plain["display_name"] = "";'),
    ('vertex_mask_ignored', 'vertex-methods', MASK, 'if (paths_.empty()) return message;', 'return message;'),
    ('vertex_mask_unspelled', 'vertex-methods', MASK, 'JsonName(name)', 'std::string(name)'),
    ('vertex_cancel_takes_fields', 'vertex-methods', METHODS,
     'if (!unknown.empty()) return google::errors::NotTheMessage(std::move(unknown));', ';'),
    ('vertex_trials_unlisted', 'vertex-tuning', METHODS, 'view.kind.listed_as == ListedAs::kCustomJob', 'false'),
    ('vertex_numbers_unasked', 'vertex-enums', JOBS, 'alt == "json;enum-encoding=int"', 'false'),
    ('vertex_any_collection', 'vertex-resources', JOBS,
     'vertex::IsTuningJob(document) == (collection == vertex::kTuningJobs)', 'true'),
    ('vertex_forgets_nothing', 'vertex-methods', ROUTES,
     'if (operations.Forget(at.At("location"), at.At("operation"))) return Json::object();', 'return Json::object();'),
    ('vertex_unserved_not_found', 'vertex-refusals', ROUTES, 'std::ranges::find(kUnserved, collection) != std::end(kUnserved)', 'false'),
    ('vertex_any_location', 'vertex-resources', ROUTES,
     'if (std::ranges::find(regions, at.At("location")) != regions.end()) return Ok{};', 'return Ok{};'),
]
