
#include "conformance/setting_up.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "conformance/format/received_json.h"
#include "conformance/format/substitution.h"
#include "conformance/problems.h"

namespace conform {
namespace {

namespace fs = std::filesystem;

// Unique for each run: the service keeps job ids forever.
std::string RunName() {
  static const char* kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t mixed =
      static_cast<uint64_t>(ticks) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(::getpid());
  std::string name;
  for (int i = 0; i < 8; ++i, mixed /= 36) name += kLetters[mixed % 36];
  return name;
}

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result<std::string> FirstLineOf(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return problems::FileUnreadable(file);
  return line;
}

// Fills ${name} in an emulator's configuration with the settings of the run.
Json Configured(const Json& config, const World& world) {
  return Fill(config, [&](const std::string& name) -> std::optional<Json> {
    const auto found = world.target.settings.find(name);
    return found == world.target.settings.end() ? std::nullopt : std::optional<Json>(found->second);
  });
}

std::optional<Problem> StartEmulators(const Arguments& arguments, Setup* setup) {
  World& world = setup->world;
  if (world.target.instances.empty()) world.target.instances[""] = Json::object();
  for (const auto& [name, config] : world.target.instances) {
    const std::string folder = world.scratch + "/emulator_" + (name.empty() ? "main" : name);
    Result<Embedded> embedded = StartEmbedded(arguments.caip, folder, Configured(config, world));
    if (!embedded.ok()) return embedded.problem();
    const std::string url = embedded.value().url;
    world.instances[name] = {url, url, url, url};
    setup->emulators.push_back(std::move(embedded).value());
  }
  return std::nullopt;
}

void Settings(const Arguments& arguments, World* world) {
  auto& settings = world->target.settings;
  const auto unless = [&](const char* name, const Json& value) {
    settings.try_emplace(name, value);
  };
  settings["run"] = RunName();
  settings["project"] = arguments.project;
  settings["bucket"] = arguments.bucket;
  settings["prefix"] = "caip-conform/" + world->setting("run");
  for (const auto& [name, value] : arguments.settings) settings[name] = value;
  unless("region", "us-central1");
  unless("runtime", "2.11");
  unless("python", "3.7");
  unless("machine", "n1-standard-4");
  unless("module", "caip_probe.task");
  unless("executor", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest");
  unless("probe", world->home + "/probe/caip_probe/task.py");
  unless("probe_package", world->home + "/probe/caip_probe");
  unless("package", "gs://" + world->setting("bucket") + "/" + world->setting("prefix") +
                        "/caip_probe-1.0.tar.gz");
  world->submit_command = WordsOf(arguments.submit_command);
  world->custom_job_command = WordsOf(arguments.custom_job_command);
  world->train_command = WordsOf(arguments.train_command);
  world->target.has.insert(world->target.apis.begin(), world->target.apis.end());
  if (!world->submit_command.empty()) world->target.has.insert("submit");
  if (!world->custom_job_command.empty()) world->target.has.insert("custom-jobs");
  if (!world->train_command.empty()) world->target.has.insert("train");
}

// Whether an API answers the simplest request correctly.
std::optional<Problem> LookAt(const World& world, const std::string& api) {
  Clients clients(world);
  const bool is_vertex = api == "vertex";
  const ServiceUrls& urls = world.instances.at("");
  const std::string base = is_vertex ? urls.vertex : urls.ml;
  const std::string project = "/v1/projects/" + Encoded(world.setting("project"));
  const std::string list =
      is_vertex ? "/locations/" + Encoded(world.setting("region")) + "/customJobs" : "/jobs";
  const auto response = clients.Send("", api, {"GET", project + list + "?pageSize=1", {}, ""});
  if (!response.ok()) return response.problem();
  const Json body = ParseReceived(response.value().body);
  if (!body.is_object()) {
    return problems::NotTheService(base, is_vertex, response.value().status, response.value().body);
  }
  if (response.value().status == 401 || response.value().status == 403) {
    return problems::AccessRefused(base, response.value().status, response.value().body);
  }
  if (response.value().status != 200) {
    return problems::NotTheService(base, is_vertex, response.value().status, response.value().body);
  }
  return std::nullopt;
}

Result<Json> JobsOf(const std::string& home) {
  const Result<Document> document = Document::Read(home + "/jobs.yaml");
  if (!document.ok()) return document.problem();
  return document.value().root();
}

}  // namespace

Setup::~Setup() {
  emulators.clear();
  std::error_code ignored;
  if (!world.scratch.empty()) fs::remove_all(world.scratch, ignored);
}

Result<std::unique_ptr<Setup>> SetUp(const Arguments& arguments, Target target) {
  auto setup = std::make_unique<Setup>();
  World& world = setup->world;
  world.target = std::move(target);
  world.home = arguments.home;
  world.trust = {arguments.ca_file, arguments.insecure};
  world.call_patience = arguments.call_patience;
  world.job_patience = arguments.job_patience;
  world.log_patience = arguments.log_patience;
  Settings(arguments, &world);
  world.scratch = (fs::temp_directory_path() / ("caip-conform-" + world.setting("run"))).string();
  fs::create_directories(world.scratch);
  const Result<Json> jobs = JobsOf(arguments.home);
  if (!jobs.ok()) return jobs.problem();
  for (const auto& [name, job] : jobs.value().items()) world.jobs[name] = job;
  if (!arguments.token_file.empty()) {
    Result<std::string> token = FirstLineOf(arguments.token_file);
    if (!token.ok()) return token.problem();
    world.token = std::move(token).value();
  }
  if (arguments.endpoint == "none") return setup;
  if (arguments.endpoint == "embedded") {
    if (auto problem = StartEmulators(arguments, setup.get())) return *problem;
  } else {
    const auto url_of = [&](const std::string& own) {
      return own.empty() ? arguments.endpoint : own;
    };
    world.instances[""] = {arguments.endpoint, url_of(arguments.vertex), url_of(arguments.storage),
                           url_of(arguments.logging)};
  }
  for (const std::string& api : world.target.apis) {
    if (auto problem = LookAt(world, api)) return *problem;
  }
  return setup;
}

std::optional<Problem> UploadPackage(Setup& setup) {
  const World& world = setup.world;
  Result<std::string> package = ProbePackage(world.home + "/probe");
  if (!package.ok()) return package.problem();
  Clients clients(world);
  const std::string bucket = world.setting("bucket");
  for (const auto& [instance, places] : world.instances) {
    const std::string made = Json({{"name", bucket}}).dump();
    // 409: the bucket exists. The upload shows whether it can be used.
    (void)clients.Send(instance, "storage",
                       {"POST",
                        "/storage/v1/b?project=" + Encoded(world.setting("project")),
                        {{"Content-Type", "application/json"}},
                        made});
    const std::string name = world.setting("prefix") + "/caip_probe-1.0.tar.gz";
    const auto sent = clients.Send(
        instance, "storage",
        {"POST",
         "/upload/storage/v1/b/" + Encoded(bucket) + "/o?uploadType=media&name=" + Encoded(name),
         {{"Content-Type", "application/x-tar"}},
         package.value()});
    if (!sent.ok()) return sent.problem();
    if (sent.value().status != 200) {
      return problems::PackageNotUploaded(bucket, sent.value().status, sent.value().body);
    }
  }
  return std::nullopt;
}

void DeleteObjects(Setup& setup) {
  if (!setup.emulators.empty()) return;  // their state is deleted with them
  Clients clients(setup.world);
  const std::string bucket = "/storage/v1/b/" + Encoded(setup.world.setting("bucket")) + "/o";
  for (const auto& [instance, places] : setup.world.instances) {
    const auto list = clients.Send(
        instance, "storage",
        {"GET", bucket + "?prefix=" + Encoded(setup.world.setting("prefix") + "/"), {}, ""});
    if (!list.ok()) continue;
    const Json body = ParseReceived(list.value().body);
    if (!body.is_object()) continue;
    for (const Json& item : body.value("items", Json::array())) {
      (void)clients.Send(instance, "storage",
                         {"DELETE", bucket + "/" + Encoded(item.value("name", "")), {}, ""});
    }
  }
}

namespace {

namespace fs = std::filesystem;
constexpr size_t kBlock = 512;

// A header of the ustar format (POSIX.1-1988).
std::string TarHeader(const std::string& name, size_t size) {
  std::array<char, kBlock> header{};
  std::snprintf(header.data(), 100, "%s", name.c_str());
  std::snprintf(header.data() + 100, 8, "%07o", 0644u);
  std::snprintf(header.data() + 108, 8, "%07o", 0u);
  std::snprintf(header.data() + 116, 8, "%07o", 0u);
  std::snprintf(header.data() + 124, 12, "%011zo", size);
  std::snprintf(header.data() + 136, 12, "%011o", 1577836800u);  // 2020-01-01: always the same
  std::memset(header.data() + 148, ' ', 8);
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar\00000", 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return std::string(header.data(), header.size());
}

void AddFile(const std::string& name, const std::string& text, std::string* tar) {
  *tar += TarHeader(name, text.size()) + text;
  tar->append((kBlock - text.size() % kBlock) % kBlock, '\0');
}

std::string Gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string zipped(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  return zipped;
}

}  // namespace

Result<std::string> ProbePackage(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  if (files.empty()) return problems::FileUnreadable(folder);
  std::sort(files.begin(), files.end());
  const std::string top = "caip_probe-1.0/";
  std::string tar;
  AddFile(top + "PKG-INFO", "Metadata-Version: 1.0\nName: caip_probe\nVersion: 1.0\n", &tar);
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    AddFile(top + fs::relative(file, folder).string(), text.str(), &tar);
  }
  tar.append(2 * kBlock, '\0');
  return Gzipped(tar);
}

}  // namespace conform
