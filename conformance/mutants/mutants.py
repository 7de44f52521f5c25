"""Deliberate breaks of the emulator, each of which the suite must catch.

(name, chapter that should catch it, file, what stands there, what a careless hand would have written).
Each text stands once in its file. Expressions are replaced by `mutant ? broken : right`; those whose
text ends in `;` are statements. scripts/conformance-mutants builds them all into one program.
"""

from vertex_mutants import VERTEX_MUTANTS

MACHINES = 'src/ml/validate/validate_machines.cc'
TUNING = 'src/ml/validate/validate_tuning.cc'
PLACE = 'src/ml/validate/validate_place.cc'
CODE = 'src/ml/validate/validate_code.cc'
LABELS = 'src/google/labels.cc'
RENDER = 'src/ml/render.cc'
VALIDATE = 'src/ml/validate/validate.cc'
ENVIRONMENT = 'src/ml/environment.cc'
COMMAND = 'src/ml/command_line.cc'
PROGRAM = 'src/run/program.cc'
OUTCOME = 'src/run/replica_outcome.cc'
LOGS = 'src/host/process/log_entry.cc'
SUBMIT = 'src/client/submit_flags.cc'
TEXTS = 'src/ml/run_texts.cc'
RUN_TEXTS = 'src/run/texts.cc'
JOBS = 'emulator/api/ml/jobs.cc'
PAGING = 'emulator/api/paging.cc'
CONDITIONS = 'fakes/gcs/store/bucket_store.cc'
RANGES = 'fakes/gcs/wire/request_headers.cc'
LISTING = 'fakes/gcs/store/listing.cc'
UPLOADS = 'fakes/gcs/wire/request_headers.cc'
FILTER = 'fakes/logging/filter/filter.cc'
JOB_FILTER = 'src/google/filter/filter_comparison.cc'
STEP = 'src/run/study_step.cc'
STUDY = 'src/engine/study.cc'
STOPPING = 'src/tuning/stopping.cc'
DESK = 'emulator/api/optimizer/study_service.cc'
SUGGESTIONS = 'emulator/api/optimizer/study_suggestions.cc'

MUTANTS = [
    # Labels and ids.
    ('label_key_any_first', 'labels', LABELS, 'IsLowerOrCaselessLetter(first)', 'true'),
    ('label_key_may_be_empty', 'labels', LABELS, "U'\\0'", "U'a'"),
    ('label_length_unlimited', 'labels', LABELS, 'characters.size() <= kLabelLengthMax', 'true'),
    ('label_without_digits', 'labels', LABELS, 'IsNumber(c)', 'false'),
    ('label_without_hyphen', 'labels', LABELS, "c == '-'", 'false'),
    ('labels_uncounted', 'labels', VALIDATE, 'labels.size() > google::kLabelsMax', 'false'),
    ('labels_unread', 'labels', VALIDATE, '!google::IsLabelValue(value)', 'false'),
    ('job_id_unread', 'job-ids', VALIDATE, '!IsJobId(job.job_id)', 'false'),
    ('first_violation_only', 'errors', VALIDATE, 'ExamineLabels(job, found);\n  return found;',
     'if (found.size() > 1) found.resize(1);\n  return found;'),
    ('regions_unsorted', 'regions', VALIDATE,
     'std::sort(names.begin(), names.end());', 'std::sort(names.rbegin(), names.rend());'),
    # Machines.
    ('tier_takes_types', 'tiers', MACHINES, '!asked.machine_type.empty()) {\n    exam.Report(violations::OnlyWithCustomTier(RoleField(role, "type")',
     None),
    ('tier_takes_counts', 'tiers', MACHINES, 'asked.count > 0 && role != Role::kMaster', 'false'),
    ('any_machine', 'machines', MACHINES, 'machine == nullptr) {\n    exam.Report(violations::MachineUnknown', None),
    ('small_machines', 'machines', MACHINES, 'machine->tier_only', 'false'),
    ('custom_without_master', 'tiers', MACHINES, 'exam.is_custom && asked.machine_type.empty()) {\n      exam.Report(violations::Required("master_type"', None),
    ('negative_counts', 'tiers', MACHINES, 'asked.count < 0', 'false'),
    ('count_without_type', 'tiers', MACHINES, 'exam.is_custom && asked.count > 0 && asked.machine_type.empty()', 'false'),
    ('type_without_count', 'tiers', MACHINES, 'exam.is_custom && asked.count == 0 && !asked.machine_type.empty()', 'false'),
    ('mixed_categories', 'machines', MACHINES, 'machine->category != first->category', 'false'),
    ('disk_size_off_by_one', 'machines', MACHINES, 'size_gb < kBootDiskGbMin', 'size_gb <= kBootDiskGbMin'),
    ('disk_size_unlimited', 'machines', MACHINES, 'size_gb > kBootDiskGbMax', 'false'),
    ('accelerator_on_legacy', 'machines', MACHINES, 'machine != nullptr && machine->category == MachineCategory::kLegacy', 'false'),
    ('accelerator_count_zero', 'machines', MACHINES, 'asked.count <= 0', 'asked.count < 0'),
    ('accelerator_any_count', 'machines', MACHINES, 'std::find(row->second.begin(), row->second.end(), asked.count) != row->second.end()', 'true'),
    ('accelerator_more_is_fine', 'machines', MACHINES, 'row == legal.end()', 'false && row == legal.end()'),
    ('two_tpus', 'machines', MACHINES, 'worker.count > 1', 'false'),
    ('tpu_version_anywhere', 'machines', MACHINES, '} else if (!version.empty()) {', '} else if (false) {'),
    ('tpu_version_unread', 'machines', MACHINES, 'runtime == nullptr || !runtime->supports_tpu', 'false'),
    # Place, time, code.
    ('any_region', 'regions', PLACE, 'else if (!is_offered)', 'else if (false)'),
    ('key_elsewhere', 'fields', PLACE, 'is_offered && *location != input.region', 'false'),
    ('any_network', 'fields', PLACE, '!google::IsNetworkName(input.network)', 'false'),
    ('any_account', 'fields', PLACE, '!google::IsServiceAccount(input.service_account)', 'false'),
    ('running_time_zero', 'scheduling', PLACE, '*scheduling.max_running_time <= Duration(0)', '*scheduling.max_running_time < Duration(0)'),
    ('wait_time_any', 'scheduling', PLACE, '*scheduling.max_wait_time < kMaxWaitTimeMin', 'false'),
    ('priority_off_by_one', 'scheduling', PLACE, 'scheduling.priority > kPriorityMax', 'scheduling.priority >= kPriorityMax'),
    ('priority_negative', 'scheduling', PLACE, 'scheduling.priority < 0', 'false'),
    ('args_and_command', 'containers', CODE, '!exam.input.args.empty()', 'false'),
    ('command_without_image', 'containers', CODE, '!exam.RunsImage(role)', 'false'),
    ('image_without_masters', 'containers', CODE, '!exam.input.UsesContainer()) exam.Report(violations::ImageWithoutMasterImage(role))', None),
    ('hundred_and_one_packages', 'fields', CODE, 'input.package_uris.size() > kPackagesMax', 'input.package_uris.size() > kPackagesMax + 1'),
    ('any_runtime', 'versions', CODE, '} else if (!ParseRuntimeVersion(version)) {', '} else if (false) {'),
    ('image_and_runtime', 'containers', CODE, '!input.runtime_version.empty()) exam.Report(violations::ImageAndRuntime())', None),
    # Environment and arguments.
    ('chief_in_cluster_spec', 'environment', ENVIRONMENT, '/*uses_chief=*/false, /*with_evaluators=*/true', '/*uses_chief=*/true, /*with_evaluators=*/true'),
    ('evaluator_in_cluster', 'environment', ENVIRONMENT, 'text += ClusterText(facts.plan, facts.plan.uses_chief, /*with_evaluators=*/false);\n  text += ", \\"task\\"', None),
    ('index_from_one', 'environment', ENVIRONMENT, 'std::to_string(facts.replica.index)', 'std::to_string(facts.replica.index + 1)'),
    ('cluster_spec_everywhere', 'environment', ENVIRONMENT, 'if (facts.input.UsesContainer()) out.emplace_back("CLUSTER_SPEC"', 'if (true) out.emplace_back("CLUSTER_SPEC"'),
    ('trial_always', 'environment', ENVIRONMENT, 'if (!facts.trial.empty()) text +=', 'if (true) text +='),
    ('job_dir_first', 'environment', COMMAND, 'Append(arguments, {"--job-dir", path});', 'arguments.insert(arguments.begin(), {"--job-dir", path});'),
    ('args_behind_command', 'environment', PROGRAM, 'image.command.empty() ? image.entrypoint : image.command', 'image.entrypoint'),
    # Outcomes and texts.
    ('failure_is_success', 'exits', OUTCOME, 'code == 0 ? ExitClass::kSuccess : ExitClass::kUserFailure', 'ExitClass::kSuccess'),
    ('signal_is_failure', 'exits', OUTCOME, 'if (signal) return ExitClass::kKilled;', 'if (signal) return ExitClass::kUserFailure;'),
    ('message_without_reason', 'exits', TEXTS, '". Termination reason: Error. "', '". "'),
    ('message_without_traceback', 'exits', TEXTS, '!traceback.empty()', 'false'),
    ('wrong_status_text', 'exits', RUN_TEXTS, 'std::string text = std::to_string(status);', 'std::string text = std::to_string(status + 1);'),
    ('silent_queue', 'logs', TEXTS, 'Text({"Job ", job_id, " is queued."})', 'Text({"Job ", job_id, " waits."})'),
    # Logs.
    ('warnings_are_errors', 'logs', LOGS, 'return run::Severity::kWarning;', 'return run::Severity::kError;'),
    ('fatal_is_error', 'logs', LOGS, 'return run::Severity::kCritical;', 'return run::Severity::kError;'),
    ('no_grpc', 'logs', LOGS, 'ParseTensorFlow(line, entry) || ParseGrpc(line, entry)', 'ParseTensorFlow(line, entry)'),
    ('or_is_and', 'logs', FILTER, 'std::any_of(children.begin(), children.end(), matches)', 'std::all_of(children.begin(), children.end(), matches)'),
    ('not_is_nothing', 'logs', FILTER, '!children.front().Matches(entry)', 'children.front().Matches(entry)'),
    # The job API.
    ('patch_any_path', 'methods', JOBS, 'trimmed != "labels" && trimmed != "etag"', 'false'),
    ('patch_without_mask', 'methods', JOBS, 'if (!mask.labels && !mask.etag) return ml::errors::UpdateMaskMissing();', 'if (!mask.labels && !mask.etag) mask.labels = true;'),
    ('patch_ignores_etag', 'methods', JOBS, 'change.labels, etag)', 'change.labels, std::nullopt)'),
    ('patch_unread_labels', 'methods', JOBS, '!broken.empty()', 'false'),
    ('filter_ignored', 'methods', JOBS, 'filter.Matches(job)', 'true'),
    ('token_on_last_page', 'methods', PAGING, 'if (more) answer["nextPageToken"]', 'if (true) answer["nextPageToken"]'),
    ('empty_list_shown', 'methods', PAGING, 'if (!items.empty()) answer', 'if (true) answer'),
    ('negative_page', 'methods', PAGING, 'size < 0', 'false'),
    ('any_token', 'methods', PAGING, '!text || !text->starts_with(kTokenMark)', '!text'),
    ('filter_in_fractions', 'methods', JOB_FILTER, 'count - (count % unit + unit) % unit', 'count'),
    ('built_in_jobs_unmarked', 'containers', RENDER, 'output.is_built_in_algorithm_job = true;',
     'output.is_built_in_algorithm_job = false;'),
    # Tuning.
    ('both_bounds_needed', 'tuning-spec', TUNING, '!spec.min_value && !spec.max_value', '!spec.min_value || !spec.max_value'),
    ('parallel_trials_up_to_all', 'tuning-spec', TUNING, 'parallel > kParallelTrialsMax', 'parallel > trials'),
    ('worst_trial_first', 'tuning', STUDY, 'maximize_ ? -value : value', 'maximize_ ? value : -value'),
    ('metricless_trials_first', 'tuning', STUDY, 'std::pair(2, 0.0)', 'std::pair(-1, 0.0)'),
    ('first_report_is_final', 'tuning', STUDY, 'if (is_later) final = report;',
     'if (!final) final = report;'),
    ('failed_trials_count', 'tuning', STUDY, '.completed = progress_.succeeded}',
     '.completed = progress_.succeeded + progress_.failed}'),
    ('failed_trial_is_best', 'tuning', STUDY, 'if (succeeded) shown.final_metric', 'if (true) shown.final_metric'),
    ('resumed_numbers_begin_anew', 'tuning', STUDY, 'last_number = std::max(last_number, number);', 'last_number = 0;'),
    ('stopping_unasked', 'tuning', STUDY, '!stops_early_ || trial.stopping', 'trial.stopping'),
    ('stopping_at_the_median', 'tuning', STOPPING, '*advice.value < *advice.bar : *advice.value > *advice.bar',
     '*advice.value <= *advice.bar : *advice.value >= *advice.bar'),
    ('max_failed_off_by_one', 'tuning', STEP, 'progress.failed >= progress.max_failed', 'progress.failed > progress.max_failed'),
    ('failures_unlimited', 'tuning', STEP, 'progress.succeeded == 0 && progress.failed >= first', 'false'),
    ('one_trial_at_a_time', 'tuning', STEP, 'progress.live < progress.max_parallel', 'progress.live < 1'),
    ('one_trial_too_many', 'tuning', STEP, 'progress.begun < progress.max_trials', 'progress.begun <= progress.max_trials'),
    ('trials_share_a_job_dir', 'tuning', COMMAND, 'path.empty() || trial.empty()', 'true'),
    ('no_trial_number', 'tuning', ENVIRONMENT, 'out.emplace_back("CLOUD_ML_TRIAL_ID", facts.trial);',
     'out.emplace_back("CLOUD_ML_TRIAL_ID", "0");'),
    # Studies.
    ('suggested_anew', 'studies', SUGGESTIONS, 'StringOr(trial, "client_id") == client', 'false'),
    ('completed_is_held', 'studies', SUGGESTIONS, 'StringOr(trial, "state") != "COMPLETED";\n}', 'true;\n}'),
    ('stop_forgotten', 'studies', DESK, 'trial["state"] = "STOPPING";', 'trial["state"] = "ACTIVE";'),
    ('infeasible_is_measured', 'studies', DESK, 'message.value("trial_infeasible", false)', 'false'),
    ('measured_out_of_order', 'studies', DESK, '!IsInOrder(measurements)', 'false'),
    # Commands.
    ('args_never_erased', 'precedence', SUBMIT, 'if (flags.user_args) TakeList', 'if (flags.user_args && !flags.user_args->empty()) TakeList'),
    ('packages_of_file_kept', 'precedence', SUBMIT, 'TakeList(input, "packageUris", package_uris);', 'if (!input.contains("packageUris")) TakeList(input, "packageUris", package_uris);'),
    ('web_access_of_file_kept', 'precedence', SUBMIT, 'input["enableWebAccess"] = flags.enable_web_access;', 'if (!input.contains("enableWebAccess")) input["enableWebAccess"] = flags.enable_web_access;'),
    ('file_wins_module', 'precedence', SUBMIT, 'Take(input, "pythonModule", flags.module_name);', 'if (!input.contains("pythonModule")) Take(input, "pythonModule", flags.module_name);'),
    ('counts_as_numbers', 'precedence', SUBMIT, 'if (count) into[name] = std::to_string(*count);', 'if (count) into[name] = *count;'),
    # Storage.
    ('conditions_ignored', 'storage', CONDITIONS, '(*condition.wanted == condition.found) != condition.equal', 'false'),
    ('only_match_conditions', 'storage', CONDITIONS, 'if (!condition.wanted) continue;', 'if (!condition.wanted || !condition.equal) continue;'),
    ('range_off_by_one', 'storage', RANGES, 'end - *first + 1}', 'end - *first}'),
    ('suffix_from_start', 'storage', RANGES, 'size - length, length}', 'uint64_t{0}, length}'),
    ('prefix_ignored', 'storage', LISTING, '!name.starts_with(query_.prefix)', 'false'),
    ('page_unlimited', 'storage', LISTING, '!entries_.empty() && entries_.size() + wanted > Limit(query_)', 'false'),
    ('no_308_ignored', 'storage', UPLOADS, 'LowerCase(request.headers.Get("X-Guploader-No-308")) == "yes"', 'false'),
    ('range_off_by_one_308', 'storage', UPLOADS, 'std::to_string(received - 1)', 'std::to_string(received)'),
] + VERTEX_MUTANTS
