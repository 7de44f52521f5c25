#pragma once
// The texts of the rules of a Job: one maker for each rule, named after the failure. Fields are
// named as the service names them: snake_case, and those of TrainingInput without a prefix.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ml/job.h"

namespace caip::ml {

/// "worker_type", "parameter_server_config.image_uri": a field of TrainingInput about a role.
std::string RoleField(Role role, std::string_view rest);
/// "worker", "parameter server": the role in prose.
std::string_view RoleInProse(Role role);

namespace violations {

// The job itself.
FieldViolation JobIdMalformed(std::string_view job_id);
FieldViolation InputMissing();
FieldViolation InputAmbiguous();
FieldViolation InputNotEmulated(std::string_view field);
FieldViolation ArchitectureSearchNotEmulated();
FieldViolation TooManyLabels(size_t count);
FieldViolation LabelKeyIllegal(std::string_view key);
FieldViolation LabelValueIllegal(std::string_view key, std::string_view value);

/// A field that must be set, and what to set it to.
FieldViolation Required(std::string field, std::string_view advice);
FieldViolation HoldsNul(std::string field);

// Machines.
FieldViolation ScaleTierUnknown(std::string_view tier);
FieldViolation OnlyWithCustomTier(std::string field, std::string_view value, std::string_view tier);
FieldViolation MachineUnknown(Role role, std::string_view machine);
FieldViolation MachineOnlyInTiers(Role role, std::string_view machine);
FieldViolation MachinesOfTwoCategories(Role role, std::string_view machine,
                                       std::string_view category, Role other,
                                       std::string_view other_machine,
                                       std::string_view other_category);
FieldViolation CountNegative(Role role, int64_t count);
FieldViolation CountWithoutType(Role role, int64_t count);
FieldViolation TypeWithoutCount(Role role, std::string_view machine);
FieldViolation TooManyReplicas(int64_t limit);
FieldViolation DiskTypeUnknown(Role role, std::string_view type);
FieldViolation DiskSizeOutOfRange(Role role, int32_t size_gb);

// Accelerators.
FieldViolation AcceleratorTypeMissing(Role role);
FieldViolation AcceleratorCountNotPositive(Role role, std::string_view type, int64_t count);
FieldViolation AcceleratorWithoutMachine(Role role);
FieldViolation AcceleratorOnLegacyMachine(Role role, std::string_view machine);
FieldViolation AcceleratorNotForMachine(Role role, std::string_view type, std::string_view machine,
                                        const std::vector<std::string>& legal_types);
FieldViolation AcceleratorCountIllegal(Role role, std::string_view type, int64_t count,
                                       std::string_view machine, std::string_view legal_counts);
FieldViolation TpuOnlyOnTpuWorker(Role role, std::string_view type);

// TPUs.
FieldViolation MachineNotInTpuJobs(Role role, std::string_view machine);
FieldViolation TpuWorkerCount(int64_t count);
FieldViolation RuntimeWithoutTpu(std::string field, std::string_view version);
FieldViolation TpuVersionMissing();
FieldViolation TpuVersionForbidden(Role role);

// Images and commands.
FieldViolation ImageMalformed(Role role, std::string_view image_uri);
FieldViolation ImageWithoutMasterImage(Role role);
FieldViolation ImageAndRuntime();
FieldViolation CommandWithoutImage(Role role, std::string_view field);
FieldViolation ArgsAndCommand(Role role);
/// `field`, below the role's config, names another program beside the module of a pre-built
/// container.
FieldViolation ProgramBesideModule(Role role, std::string_view field);
FieldViolation BuiltInWith(std::string field);

// Packages and runtimes.
FieldViolation TooManyPackages(size_t count);
FieldViolation PackageMalformed(std::string_view uri, std::string_view why);
FieldViolation ModuleMalformed(std::string_view module);
FieldViolation RuntimeMalformed(std::string_view version);
FieldViolation RuntimeUnknown(std::string_view version, const std::vector<std::string>& known);
FieldViolation PythonUnknown(std::string_view python, const std::vector<std::string>& known);
FieldViolation PythonNotInRuntime(std::string_view python, std::string_view runtime,
                                  const std::vector<std::string>& pythons);
FieldViolation JobDirMalformed(std::string_view job_dir, std::string_view why);

// Where and when.
FieldViolation RegionNotAvailable(std::string_view region, const std::vector<std::string>& options);
FieldViolation NetworkMalformed(std::string_view network);
FieldViolation ServiceAccountMalformed(std::string_view account);
FieldViolation KmsKeyMalformed(std::string_view key);
FieldViolation KmsKeyElsewhere(std::string_view location, std::string_view region);
FieldViolation MaxWaitTimeTooShort(Duration given);
FieldViolation MaxRunningTimeNotPositive(Duration given);
FieldViolation PriorityOutOfRange(int32_t priority);

// Tuning; `field` is "params[0].max_value" and the like, below hyperparameters.
FieldViolation Tuning(std::string_view field, std::string description);
FieldViolation ParametersMissing();
FieldViolation ParameterNameIllegal(size_t index, std::string_view name);
FieldViolation ParameterNameTwice(size_t index, std::string_view name);
FieldViolation ParameterTypeMissing(size_t index);
FieldViolation BoundsMissing(size_t index, std::string_view type);
FieldViolation BoundNotFinite(size_t index, std::string_view bound);
FieldViolation BoundNotIntegral(size_t index, std::string_view bound, double value);
FieldViolation BoundsReversed(size_t index, double least, double most, bool is_most_missing);
FieldViolation NotForType(size_t index, std::string_view field, std::string_view type);
FieldViolation ValuesMissing(size_t index, std::string_view field, std::string_view type);
FieldViolation TooManyValues(size_t index, std::string_view field, size_t count, size_t most);
FieldViolation ValuesNotIncreasing(size_t index, size_t at);
FieldViolation ValueNotFinite(size_t index, size_t at);
FieldViolation LogScaleNotPositive(size_t index, std::string_view scale, double least);
FieldViolation GridWithDouble(size_t index, std::string_view name);
FieldViolation AlgorithmNotEmulated(std::string_view algorithm);
FieldViolation TrialsNotPositive(std::string_view field, int32_t value);
FieldViolation TrialsNegative(int32_t value);
FieldViolation TooManyParallelTrials(int32_t parallel, int32_t limit);
FieldViolation ResumedIdMalformed(std::string_view job_id);

}  // namespace violations
}  // namespace caip::ml
