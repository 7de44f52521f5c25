#include "host/images/local_images.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/hash.h"
#include "host/images/image_errors.h"
#include "host/images/image_files.h"
#include "host/images/image_user.h"
#include "host/images/loopback_registry.h"
#include "host/machine/other_users.h"
#include "host/store/scratch.h"
#include "images/image_store.h"

namespace caip::host {
namespace {

using engine::PreparedImage;
using engine::Severity;
using images::Digest;
using images::ImageReference;

// What Docker gives a container whose image names no PATH.
constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// Images that have no name of their own in the store.
constexpr char kMappedImages[] = "localhost/mapped";
constexpr char kEngineImages[] = "localhost/";
constexpr size_t kTagDigits = 32;

// Another text as soon as the archive, or the index of the directory, is another file.
std::string VersionOf(const Path& path) {
  struct stat status {};
  const Path index = path / "index.json";
  if (::stat(index.c_str(), &status) != 0 && ::stat(path.c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

void PutVariable(const std::string& name, const std::string& value,
                 engine::Environment& environment) {
  std::erase_if(environment, [&](const auto& earlier) { return earlier.first == name; });
  environment.emplace_back(name, value);
}

// Only root may take another group and keep its rights as root, and in a user namespace only a
// group that has an ID there. The user of a machine that another user makes has that user's group
// alone.
void SetUser(const ImageUser& user, const ImageSource::Note& note, PreparedImage& image) {
  if (user.user == 0 && user.group != 0 && !MayBecome(user.user, user.group)) {
    return note(Severity::kWarning, errors::ImageRunsInGroupOfRoot(user.group));
  }
  image.user = user.user;
  image.group = user.group;
  for (const uint32_t group : user.groups) {
    if (MayBecome(user.user, group)) image.groups.push_back(group);
  }
}

// A directory that is missing is made with the machine.
Status CheckWorkingDirectory(const std::string& directory, const std::vector<Path>& layers) {
  using Kind = ImageFiles::Kind;
  switch (ImageFiles(layers).KindOf(directory)) {
    case Kind::kMissing:
    case Kind::kDirectory:
      return Ok{};
    case Kind::kFile:
    case Kind::kBelowFile:
      return errors::WorkingDirectoryIsFile(directory);
    case Kind::kTooManyLinks:
      return errors::WorkingDirectoryHasTooManyLinks(directory);
    case Kind::kTooLong:
      return errors::WorkingDirectoryTooLong(directory.size());
  }
  return Ok{};
}

Result<PreparedImage> PreparedFrom(images::UnpackedImage unpacked, const ImageSource::Note& note) {
  if (unpacked.layers.empty()) return errors::ImageWithoutLayers();
  const images::ImageConfig& config = unpacked.config;
  RETURN_IF_ERROR(CheckWorkingDirectory(config.working_directory, unpacked.layers));
  ASSIGN_OR_RETURN(const ImageUser user, FindImageUser(config.user, unpacked.layers));
  PreparedImage image;
  for (const Path& layer : unpacked.layers) image.layers.push_back(layer);
  image.entrypoint = config.entrypoint;
  image.default_args = config.command;
  image.environment = EnvironmentOf(config);
  const bool has_home = std::any_of(image.environment.begin(), image.environment.end(),
                                    [](const auto& variable) { return variable.first == "HOME"; });
  if (!has_home) image.environment.emplace_back("HOME", user.home);
  if (!config.working_directory.empty()) image.working_directory = config.working_directory;
  SetUser(user, note, image);
  for (const std::string& remark : unpacked.remarks) note(Severity::kWarning, remark);
  image.hold = std::make_shared<const images::UnpackedImage>(std::move(unpacked));
  return image;
}

}  // namespace

engine::Environment EnvironmentOf(const images::ImageConfig& config) {
  // PYTHONUNBUFFERED: lines are shown as they are printed
  engine::Environment environment = {{"PATH", kDefaultPath}, {"PYTHONUNBUFFERED", "1"}};
  for (const std::string& variable : config.environment) {
    const size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos) continue;
    PutVariable(variable.substr(0, equals), variable.substr(equals + 1), environment);
  }
  return environment;
}

LocalImages::LocalImages(LocalImagesOptions options)
    : options_(std::move(options)), engines_(options_.own_environment) {}

LocalImages::~LocalImages() = default;

Result<images::ImageStore*> LocalImages::Store() {
  const std::lock_guard lock(mutex_);
  if (!store_) {
    ASSIGN_OR_RETURN(store_, images::ImageStore::Open(options_.store));
  }
  return store_.get();
}

Result<PreparedImage> LocalImages::Provide(const std::string& uri, const std::string& source,
                                           const Note& note, const std::stop_token& stop) {
  if (!options_.can_run) return errors::ImageNeedsMachine(uri);
  ASSIGN_OR_RETURN(auto unpacked, FindAndUnpack(uri, source, stop));
  note(Severity::kInfo, errors::RunsImage(uri, unpacked.manifest.text()));
  auto image = PreparedFrom(std::move(unpacked), note);
  if (!image.ok()) return errors::ImageUnusable(uri, image.error());
  return image;
}

// Between the two steps, an import may replace the image, and remove the one that was found.
Result<images::UnpackedImage> LocalImages::FindAndUnpack(const std::string& uri,
                                                         const std::string& source,
                                                         const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(const LocatedImage found, Locate(uri, source, stop));
    auto unpacked = found.store->Unpack(found.digest, stop);
    if (unpacked.ok()) return unpacked;
    const bool is_gone = unpacked.error().code == Code::kNotFound && tries < kFindTriesMax;
    if (!is_gone) return errors::ImageUnusable(uri, unpacked.error());
  }
}

Result<LocatedImage> LocalImages::Locate(const std::string& uri, const std::string& source,
                                         const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const Digest digest, Find(uri, source, stop));
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  if (options_.after_finding) options_.after_finding();
  return LocatedImage{digest, store};
}

Status LocalImages::LookUp(const std::string& uri, const std::string& source) {
  if (!options_.can_run) return errors::ImageNeedsMachine(uri);
  RETURN_IF_ERROR(Find(uri, source, {}));
  return Ok{};
}

Result<Digest> LocalImages::Find(const std::string& uri, const std::string& source,
                                 const std::stop_token& stop) {
  auto found = source.empty() ? FindByName(uri, stop) : FindMapped(uri, source);
  if (found.ok()) return found;
  const bool is_missing = source.empty() && found.error().code == Code::kNotFound;
  return is_missing ? errors::ImageNotFound(uri) : errors::ImageUnusable(uri, found.error());
}

// A name with a digest means exactly that image, wherever it is.
Result<Digest> LocalImages::FindMapped(const std::string& uri, const std::string& source) {
  ASSIGN_OR_RETURN(const Digest digest, ImportMapped(source));
  const auto name = ImageReference::Parse(uri);
  if (!name.ok() || !name->digest()) return digest;
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  ASSIGN_OR_RETURN(const bool has_it, store->HasMember(digest, *name->digest()));
  if (!has_it) {
    return errors::MappedImageDiffers(source, name->digest()->text(), digest.text());
  }
  return *name->digest();
}

Result<Digest> LocalImages::FindByName(const std::string& uri, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const ImageReference name, ImageReference::Parse(uri));
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  auto found = store->Resolve(name);
  if (found.ok() || found.error().code != Code::kNotFound) return found;
  found = ImportFromEngine(uri, name, stop);
  if (found.ok() || found.error().code != Code::kNotFound) return found;
  const auto registry = LoopbackRegistryOf(name);
  return registry ? PullFromLoopback(*registry, name, *store, stop) : found;
}

Result<Digest> LocalImages::Import(const images::ImageSource& source, const ImageReference& as) {
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  ASSIGN_OR_RETURN(const auto imported, store->Import(source, as));
  return imported.front().digest;
}

// The store reads directories and archives after any of the words of LocationWord.
Result<Digest> LocalImages::ImportMapped(const std::string& location) {
  const auto source = images::ImageSource::Parse("oci:" + location);
  const std::string version = location + " " + VersionOf(source.path);
  ASSIGN_OR_RETURN(const ImageReference name,
                   ImageReference::Parse(std::string(kMappedImages) + ":" +
                                         Sha256Hex(version).substr(0, kTagDigits)));
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  const auto known = store->Resolve(name);
  if (known.ok() && store->HasImage(*known)) return known;
  if (::access(source.path.c_str(), R_OK) != 0) {
    return errors::MappedPlaceUnreadable(source.path.string(), errno);
  }
  return Import(source, name);
}

Result<Digest> LocalImages::ImportFromEngine(const std::string& uri, const ImageReference& wanted,
                                             const std::stop_token& stop) {
  // podman takes no name with both a tag and a digest
  const std::string digest = wanted.digest() ? wanted.digest()->text() : "";
  const auto image =
      engines_.Find(digest.empty() ? uri : wanted.repository() + "@" + digest, stop, digest);
  if (!image) return errors::NotInEngines();
  ASSIGN_OR_RETURN(const ImageReference name,
                   ImageReference::Parse(kEngineImages + image->engine + ":" + image->id));
  ASSIGN_OR_RETURN(images::ImageStore * store, Store());
  if (auto known = store->Resolve(name); known.ok() && store->HasImage(*known)) return known;
  ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeScratch(options_.state, "image-"));
  const Path file = scratch.path() / "image.tar";
  RETURN_IF_ERROR(engines_.Save(*image, file, stop));
  return Import({file}, name);
}

}  // namespace caip::host
