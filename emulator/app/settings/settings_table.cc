#include "emulator/app/settings/settings_table.h"

#include <algorithm>

#include "base/text.h"
#include "emulator/app/settings/setting_readers.h"

namespace caip::app {
namespace {

using Form = Setting::Form;

constexpr Setting kSettings[] = {
    {.key = "queue_delay",
     .flag = "--queue-delay",
     .values = "MODEL",
     .help = "How long jobs stay QUEUED: none, constant:20m, uniform:1m..20m, "
             "lognormal:median=5m,sigma=0.8 or stock-out:tries=3. No real time is spent.",
     .in_runs = InRuns::kScenario,
     .set = SetDelay<&EmulatorOptions::queue_delay>,
     .sample = "none",
     .sample_is_default = true,
     .note = "constant:20m | uniform:1m..20m | lognormal:median=5m,sigma=0.8 | stock-out:tries=3",
     .heading = "How long things take, in emulated time. While no replica is alive, time skips "
                "ahead, so waiting costs nothing."},
    {.key = "provision_delay",
     .flag = "--provision-delay",
     .values = "MODEL",
     .help = "How long jobs stay PREPARING; the same models as --queue-delay.",
     .in_runs = InRuns::kScenario,
     .set = SetDelay<&EmulatorOptions::provision_delay>,
     .sample = "none",
     .sample_is_default = true,
     .note = "from PREPARING until all machines exist; the same models"},
    {.key = "restart_delay",
     .in_runs = InRuns::kScenario,
     .set = SetDelay<&EmulatorOptions::restart_delay>,
     .sample = "none",
     .sample_is_default = true,
     .note = "until a lost machine is replaced"},
    {.key = "failing_restart",
     .flag = "--failing-restart",
     .values = "DURATION",
     .help = "How long a failed replica of a custom job runs again before its job fails.",
     .in_runs = InRuns::kScenario,
     .set = SetDuration<&EmulatorOptions::failing_restart>,
     .sample = "0s",
     .sample_is_default = true,
     .note = "custom jobs: how long a failed replica runs again before its job fails"},
    {.key = "grace",
     .in_runs = InRuns::kScenario,
     .set = SetDuration<&EmulatorOptions::grace>,
     .sample = "30s",
     .sample_is_default = true,
     .note = "between SIGTERM and SIGKILL"},
    {.key = "seed",
     .flag = "--seed",
     .values = "N",
     .help = "Seed of all random choices, to repeat a run.",
     .in_runs = InRuns::kScenario,
     .set = SetSeed,
     .sample = "7",
     .note = "of all random choices; default: a random seed, which every run prints"},
    {.key = "jobs_max",
     .in_runs = InRuns::kUnused,
     .set = SetJobsMax,
     .sample = "0",
     .sample_is_default = true,
     .note = "jobs out of the queue at the same time; 0: no limit"},
    {.key = "launcher",
     .in_runs = InRuns::kUnused,
     .set = SetLauncher,
     .sample = "process",
     .sample_is_default = true,
     .note = "replicas run as processes of this host; no other launcher exists",
     .heading = "Where things run."},
    {.key = "addressing",
     .flag = "--addressing",
     .values = "loopback|ports",
     .help = "Addresses of replicas: a loopback address for each replica, or localhost with a port "
             "for each.",
     .in_runs = InRuns::kUsed,
     .set = SetChoice<&EmulatorOptions::addressing, kAddressings>,
     .sample = "loopback",
     .sample_is_default = true,
     .note = "an address 127.x.y.z:2222 for each replica; ports: localhost:PORT"},
    {.key = "gs_front",
     .flag = "--gs-front",
     .values = "off|proxy",
     .help = "Whether trainers whose library knows only Google's https names (TensorFlow's gs://) "
             "reach the emulator, through https_proxy and a certificate authority of the emulator.",
     .in_runs = InRuns::kUsed,
     .set = SetChoice<&EmulatorOptions::gs_front, kGsFronts>,
     .sample = "proxy",
     .sample_is_default = true,
     .note = "off: trainers that know only Google's https names do not reach caip"},
    {.key = "isolation",
     .flag = "--isolation",
     .values = "process|machine",
     .help = "What a replica is: a process of this host, or a machine with its own processes, "
             "network, host name and files. There, the names of replicas and of Google resolve.",
     .in_runs = InRuns::kUsed,
     .set = SetChoice<&EmulatorOptions::isolation, kIsolations>,
     .sample = "machine",
     .note = "process; default: machine if the host allows it (docs/clients.md)"},
    {.key = "storage_view",
     .flag = "--storage-view",
     .values = "gs|path",
     .help =
         "The --job-dir of trainers: the gs:// URI, or the local directory that holds its objects.",
     .in_runs = InRuns::kScenario,
     .set = SetChoice<&EmulatorOptions::storage_view, kStorageViews>,
     .sample = "gs",
     .sample_is_default = true,
     .note = "path: --job-dir is the local directory of the gs:// URI"},
    {.key = "gpus",
     .flag = "--gpus",
     .values = "queue|share|cpu",
     .help = "What a job does that needs more GPUs than this host has: it waits, shares them, or "
             "runs on the CPU.",
     .in_runs = InRuns::kUsed,
     .set = SetChoice<&EmulatorOptions::gpus, kGpuModes>,
     .sample = "queue",
     .note = "share | cpu; default: queue if the host has GPUs, else cpu"},
    {.key = "fake_gpus",
     .flag = "--fake-gpus",
     .values = "NxTYPE",
     .help = "Emulate GPUs that do not exist: 4xNVIDIA_TESLA_T4.",
     .in_runs = InRuns::kUsed,
     .set = SetText<&EmulatorOptions::fake_gpus>,
     .sample = "4xNVIDIA_TESLA_T4",
     .note = "GPUs that do not exist, to test device binding anywhere"},
    {.key = "python",
     .flag = "--python",
     .values = "PATH",
     .help = "Python interpreter of all jobs, whatever version they ask for: a program, or the "
             "directory of a virtual environment (default: an installed runtime version, the "
             "active virtual environment, or the version that fits best).",
     .in_runs = InRuns::kUsed,
     .set = SetPython,
     .complete = [](const std::string& value) { return FindPython(value).value_or(value); },
     .sample = "python3",
     .note = "the interpreter of all jobs; default: by their versions (docs/running-jobs.md)"},
    {.key = "strict_runtime",
     .flag = "--strict-runtime",
     .help =
         "Reject jobs whose Python version is missing on this host, instead of running them with "
         "the nearest version.",
     .form = Form::kSwitch,
     .in_runs = InRuns::kUsed,
     .set = SetSwitch<&EmulatorOptions::strict_runtime>,
     .sample = "false",
     .sample_is_default = true,
     .note = "reject a job whose Python version is missing on this host"},
    {.key = "keep_disks",
     .flag = "--keep-disks",
     .help = "Keep what replicas leave on their boot disks in <state>/kept-disks.",
     .form = Form::kSwitch,
     .in_runs = InRuns::kUnused,
     .set = SetSwitch<&EmulatorOptions::keep_disks>,
     .sample = "false",
     .sample_is_default = true,
     .note = "what replicas leave on their boot disks is kept in <state>/kept-disks"},
    {.key = "disk_limits",
     .flag = "--disk-limits",
     .values = "job|SIZE",
     .help = "Limit the boot disks of replicas to the size that the job asks for "
             "(bootDiskSizeGb), or to SIZE if that is smaller. Writes to files become slower.",
     .in_runs = InRuns::kUnused,
     .set = SetDiskLimits,
     .sample = "off",
     .sample_is_default = true,
     .note = "job: boot disks have the size that the job asks for; 20GB: at most that"},
    {.key = "machine_limits",
     .flag = "--machine-limits",
     .help = "Limit the CPUs and the memory of replicas to those of their machine types, where "
             "the host allows it.",
     .form = Form::kSwitch,
     .in_runs = InRuns::kUsed,
     .set = SetSwitch<&EmulatorOptions::machine_limits>,
     .sample = "false",
     .sample_is_default = true,
     .note = "replicas have the CPUs and the memory of their machine types"},
    {.key = "create_buckets",
     .flag = "--create-buckets",
     .help = "Create missing buckets instead of rejecting the job.",
     .form = Form::kSwitch,
     .in_runs = InRuns::kUnused,
     .set = SetSwitch<&EmulatorOptions::create_buckets>,
     .sample = "false",
     .sample_is_default = true,
     .note = "a missing bucket is created when a job or client names it"},
    {.key = "durability",
     .flag = "--durability",
     .values = "full|relaxed",
     .help =
         "Whether acknowledged writes to storage survive a power cut. relaxed is faster. A killed "
         "process loses nothing in either mode.",
     .in_runs = InRuns::kUnused,
     .set = SetChoice<&EmulatorOptions::durable_storage, kDurabilities>,
     .sample = "full",
     .sample_is_default = true,
     .note = "relaxed: storage is faster, but a power cut may lose the last writes"},
    {.key = "images",
     .flag = "--map-image",
     .values = "URI=COMMAND",
     .help = "Run COMMAND, or the image oci:PATH, instead of the container image URI. Repeatable.",
     .form = Form::kRepeated,
     .in_runs = InRuns::kUsed,
     .set = SetImages,
     .sample = "\ngcr.io/my-project/trainer:v1: python3 /home/me/src/train.py\n"
               "gcr.io/my-project/other: [python3, -m, other.task]\n"
               "gcr.io/my-project/third: oci:/home/me/third.tar",
     .note = "container images that run as local commands or are in archives",
     .heading = "Substitutes."},
    {.key = "strict_images",
     .flag = "--strict-images",
     .help = "Reject a job whose container image is not on this host. By default, the job fails "
             "when it starts.",
     .form = Form::kSwitch,
     .in_runs = InRuns::kUsed,
     .set = SetSwitch<&EmulatorOptions::strict_images>,
     .sample = "false",
     .sample_is_default = true,
     .note = "a job whose container image is missing is rejected"},
    {.key = "container_engine",
     .flag = "--container-engine",
     .values = "bundled|podman|docker",
     .help = "What runs container images: caip itself, on machines of replicas, or containers of "
             "podman or docker, in the network of this host.",
     .in_runs = InRuns::kUnused,
     .set = SetChoice<&EmulatorOptions::container_engine, kContainerEngines>,
     .sample = "bundled",
     .sample_is_default = true,
     .note = "podman | docker: containers of an engine (docs/images.md)"},
    {.key = "runtimes",
     .in_runs = InRuns::kUsed,
     .set = SetRuntimes,
     .sample = "\n\"2.11\": /usr/bin/python3\n\"3.7\": /opt/python3.7/bin/python3",
     .note = "runtime or Python versions -> interpreters"},
    {.key = "interpreters",
     .in_runs = InRuns::kUsed,
     .set = SetList<&EmulatorOptions::interpreters>,
     .sample = "[]",
     .sample_is_default = true,
     .note = "further interpreters to consider"},
    {.key = "extra_regions",
     .in_runs = InRuns::kUsed,
     .set = SetList<&EmulatorOptions::extra_regions>,
     .sample = "[]",
     .sample_is_default = true,
     .note = "regions to accept in addition to the service's own"},
    {.key = "persistent_resources",
     .in_runs = InRuns::kUsed,
     .set = SetList<&EmulatorOptions::persistent_resources>,
     .sample = "[]",
     .sample_is_default = true,
     .note = "ids that jobs of Vertex AI may name as persistentResourceId"},
    {.key = "nfs_exports",
     .in_runs = InRuns::kUsed,
     .set = SetNfsExports,
     .sample = "\n\"10.0.0.2:/data\": /srv/nfs/data",
     .note = "exports in nfsMounts of Vertex AI -> directories"},
    {.key = "companions",
     .in_runs = InRuns::kUsed,
     .set = SetCompanions,
     .sample = "[bigtable]",
     .note = "default: none",
     .heading =
         "Emulators of the Cloud SDK that replicas can use: bigtable, datastore, firestore, "
         "pubsub, spanner. Each one starts with\nthe first job that runs, on a free port of "
         "127.0.0.1. Replicas get its *_EMULATOR_HOST (datastore: all five of its\nvariables). If "
         "it cannot start, the job's log has a warning. Emulators keep their data in memory and "
         "end with caip. Their\nlogs are in <state>/companions. caip looks for them below the "
         "gcloud on PATH, where its packages install them, and on PATH."},
    {.key = "cloud_sdk",
     .in_runs = InRuns::kUsed,
     .set = SetCloudSdk,
     .sample = "/opt/google-cloud-sdk",
     .note = "default: found as described above"},
    {.key = "project_number",
     .in_runs = InRuns::kUsed,
     .set = SetText<&EmulatorOptions::project_number>,
     .sample = "\"123456789012\"",
     .sample_is_default = true,
     .heading = "Identity."},
    {.key = "service_account",
     .in_runs = InRuns::kUsed,
     .set = SetText<&EmulatorOptions::service_account>,
     .sample = "\"\"",
     .sample_is_default = true,
     .note = "default: the project's managed account"},
    {.key = "address",
     .in_runs = InRuns::kUnused,
     .set = SetText<&EmulatorOptions::address>,
     .sample = kDefaultAddress,
     .sample_is_default = true,
     .heading = "The server."},
    {.key = "port",
     .in_runs = InRuns::kUnused,
     .set = SetPort,
     .sample = "2247",
     .note = "default: the last one used, else 2247, else the next free one; 0: any free one"},
    {.key = "connections_max",
     .in_runs = InRuns::kUnused,
     .set = SetConnectionsMax,
     .sample = "0",
     .sample_is_default = true,
     .note = "connections at the same time; 0: as many as the limit of open files allows, at most "
             "4096"},
    {.key = "access_log",
     .flag = "--access-log",
     .values = "FILE",
     .help =
         "File for the access log, - for the standard output, or off (default: access.log in the "
         "state directory).",
     .in_runs = InRuns::kUnused,
     .set = SetText<&EmulatorOptions::access_log>,
     .sample = "/var/tmp/caip.log",
     .note = "- for standard output, or off; default: access.log in the state directory, restarted "
             "at 64 MiB"},
    {.key = "allow_hosts",
     .in_runs = InRuns::kUnused,
     .set = SetList<&EmulatorOptions::allowed_hosts>,
     .sample = "[]",
     .sample_is_default = true,
     .note = "host names besides localhost that a Host header may have"},
    {.key = "allow_users",
     .flag = "--allow-users",
     .values = "USER,...",
     .help =
         "Further users of this host who may send requests, or all for everybody who reaches the "
         "port (default: only root and the user who starts the emulator).",
     .in_runs = InRuns::kUnused,
     .set = SetAllowedUsers,
     .sample = "[]",
     .sample_is_default = true,
     .note = "users who may send requests, besides the one who starts the emulator and root; all: "
             "everybody"},
    {.key = "token",
     .flag = "--token",
     .values = "FILE",
     .help =
         "File with a token for clients in containers and on other hosts. If it does not exist, "
         "caip writes a random token to it. `caip env --remote` prints the variables for such "
         "clients.",
     .in_runs = InRuns::kUnused,
     .set = SetText<&EmulatorOptions::token_file>,
     .sample = "/home/me/caip-token",
     .note = "its token admits clients in containers and on other hosts; default: none "
             "(docs/security.md)"},
    {.key = "idle_timeout",
     .in_runs = InRuns::kUnused,
     .set = SetIdleTimeout,
     .sample = "5m",
     .sample_is_default = true,
     .note = "of a server started in the background"},
};

static_assert(std::ranges::none_of(kSettings, [](const Setting& setting) {
  return setting.in_runs == InRuns::kUnset;
}));

constexpr size_t kNoteColumn = 31;

}  // namespace

std::span<const Setting> Settings() { return kSettings; }

const Setting* FindSetting(std::string_view key) {
  for (const Setting& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

std::string SampleConfigFile() {
  std::string file;
  for (const Setting& setting : kSettings) {
    if (!setting.heading.empty()) {
      if (!file.empty()) file += '\n';
      for (const std::string& line : Split(setting.heading, '\n')) file += "# " + line + "\n";
    }
    const std::vector<std::string> lines = Split(setting.sample, '\n');
    std::string line = std::string(setting.key) + ":";
    if (!lines[0].empty()) line += " " + lines[0];
    if (!setting.note.empty()) {
      line.resize(std::max(line.size() + 2, kNoteColumn), ' ');
      line += "# " + std::string(setting.note);
    }
    file += line + "\n";
    for (size_t i = 1; i < lines.size(); ++i) file += "  " + lines[i] + "\n";
  }
  return file;
}

}  // namespace caip::app
