#include "emulator/scenario/errors.h"

#include <utility>

#include "base/quoting.h"
#include "base/text.h"
#include "google/gcs_uri.h"

namespace caip::scenario::errors {
namespace {

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

std::string S(std::string_view text) { return std::string(text); }

constexpr std::pair<int, Code> kCodesOfStatuses[] = {
    {403, Code::kPermissionDenied},  {404, Code::kNotFound}, {409, Code::kAborted},
    {429, Code::kResourceExhausted}, {500, Code::kInternal},
};

}  // namespace

Error JobRejected(const Error& cause) {
  std::string text = "The job was rejected: " + cause.message;
  for (const FieldViolation& violation : cause.violations) {
    text += "\n  " + violation.field + ": " + violation.description;
  }
  return {cause.code, std::move(text)};
}

Error NoTrainingInput() {
  return Invalid("The job has no trainingInput. Name a module and its package, or an image.");
}

Error JobConfig(const Path& file) {
  return Invalid("'" + file.string() +
                 "' is the config of a job, for `caip jobs submit training --config`, `caip ai "
                 "custom-jobs create --config` or `caip ai hp-tuning-jobs create --config`, and "
                 "not a scenario.");
}

Error StandardInputOfJob() {
  return Invalid(
      "The file of a job that runs several times cannot be the standard input. Name a "
      "file.");
}

Error PackageInBucket(std::string_view where, std::string_view uri) {
  return Invalid(S(where) + ": '" + S(uri) +
                 "' is in a bucket. Give the archive as a file of this host.");
}

Error PackageOfVertexJob(std::string_view uri) {
  const std::string why = google::HasGcsScheme(uri)
                              ? "' is in a bucket, and the runs do not have its objects. "
                              : "' does not begin with gs://. The service reads packages of custom "
                                "jobs from buckets only, and "
                                "gcloud uploads none. ";
  return Invalid("packageUris: '" + S(uri) + why +
                 "Give the folder of the package instead: --worker-pool-spec=machine-type=TYPE,"
                 "executor-image-uri=IMAGE,local-package-path=FOLDER,python-module=MODULE");
}

Error JobDirIsADirectory() {
  return Invalid(
      "`{job_dir}` in the command is a directory. Leave out --storage-view gs, or write "
      "`{gs_job_dir}` in the command.");
}

Error PortsOnMachines() {
  return Invalid(
      "`addressing: ports` gives processes of one host a port each. Machines have an address each. "
      "Leave out --isolation machine, or add --addressing loopback.");
}

Error FaultWithoutReplica(std::string_view fault, std::string_view replica,
                          const std::vector<std::string>& replicas) {
  return Invalid("Fault '" + S(fault) + "' can never happen: the job has no " + S(replica) +
                 "; it has " + Join(replicas, ", ") + ".");
}

Error BucketUnreadable(std::string_view bucket, const Path& from, std::string_view why) {
  return {Code::kNotFound,
          "buckets." + S(bucket) + ".from: '" + from.string() + "' cannot be read: " + S(why)};
}

Error NeverStarted(std::string_view replica) {
  return {Code::kNotFound, "Replica " + S(replica) + " was never started."};
}

Error BaselineRunFailed(const harness::Evidence& run) {
  return {Code::kFailedPrecondition, "The baseline run, which has no faults, did not succeed: " +
                                         run.state + " " + harness::DescribeFailure(run)};
}

Error NetworkFaultNotInjected(std::string_view why) {
  return {Code::kUnimplemented, "A fault of the network could not be injected: " + S(why) + "."};
}

Error ClusterNeedsMachines() {
  return {Code::kUnimplemented,
          "The members of `cluster` cannot find each other by name, because replicas are processes "
          "that share the network of this host. A cluster needs machines: leave out `--isolation "
          "process` and `isolation`, and see `caip doctor` for what machines need."};
}

Error NetworkFaultNeedsMachines(std::string_view fault) {
  return {Code::kUnimplemented,
          "Fault '" + S(fault) +
              "' cannot be injected, because replicas are processes that share the network of "
              "this host. Faults of the network need machines: leave out `--isolation process` and "
              "`isolation`, and see `caip doctor` for what machines need."};
}

Error VolumeNeedsMachines(const Path& volume) {
  return {Code::kUnimplemented,
          "'" + volume.string() +
              "' cannot be replaced by a copy for each run, because replicas are processes of this "
              "host. Give the trainer `{job_dir}` instead of the directory, or see `caip doctor` "
              "for what machines need."};
}

Error VolumeTooLarge(const Path& volume, uint64_t bytes_max) {
  return {Code::kFailedPrecondition,
          "'" + volume.string() + "' holds more than " + std::to_string(bytes_max >> 20) +
              " MiB, and each run works on a copy. Name only the directory that the trainer "
              "writes, with --out-dir or `volumes`."};
}

Error CannotCopyVolume(const Path& file, int error_number) {
  return SystemError("cannot copy " + Quoted(file.native()) + " for a run", error_number);
}

Error CannotReadVolume(const Path& file, int error_number) {
  return SystemError("cannot read " + Quoted(file.native()) + " of a run", error_number);
}

Error CallRefused(int status, std::string_view why) {
  Code code = Code::kUnavailable;
  for (const auto& [known, its_code] : kCodesOfStatuses) {
    if (known == status) code = its_code;
  }
  return {code, S(why)};
}

Error DiskFull(const Path& directory) {
  return {Code::kResourceExhausted,
          "The disk is full: the files of a run did not fit into '" + directory.string() +
              "'. Free some space, or choose another folder with --state."};
}

Error ReplicaRefused(std::string_view why) {
  return {Code::kUnimplemented,
          "This host could not start a replica: " + S(why) +
              ". The run shows nothing about the trainer. Raise the limits of open files and of "
              "processes (ulimit -Hn, ulimit -Hu), or run less at the same time (--jobs)."};
}

Error TaskPortTaken() {
  return {
      Code::kUnimplemented,
      "While the replicas ran as processes of this host, another program began to listen on port "
      "2222 of all addresses, so they could not. The run shows nothing about the trainer. "
      "`ss -ltnp 'sport = :2222'` names the program. Stop it, or set `addressing: ports`, or leave "
      "out `isolation: process` and `--isolation process`: machines have networks of their own."};
}

Error TaskPortShared() {
  return {Code::kUnimplemented,
          "A replica failed while another one listened on port 2222 of all addresses, as servers "
          "of TensorFlow do. The replicas ran as processes of this host, so only one of them can "
          "do so. The run shows nothing about the trainer. Set `addressing: ports`, or leave out "
          "`isolation: process` and `--isolation process`: machines have networks of their own."};
}

Error NoDescriptorsForRun(uint64_t limit) {
  return {Code::kUnimplemented,
          "This host allows " + std::to_string(limit) +
              " open files, and the run needed more. It shows nothing about the trainer. Raise the "
              "limit (ulimit -Hn), or run less at the same time (--jobs)."};
}

Error CannotKeep(std::string_view file, int error_number) {
  return SystemError("cannot keep " + Quoted(file), error_number);
}

Error CannotRestore(const Path& file, int error_number) {
  return SystemError("cannot restore " + Quoted(file.string()), error_number);
}

Error CannotShare(std::string_view cache, int error_number) {
  return SystemError("cannot share " + Quoted(cache), error_number);
}

}  // namespace caip::scenario::errors
