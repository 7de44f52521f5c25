// Five hundred archives that try to leave the store, as layers and as archives to import. Whatever
// becomes of them, nothing outside of the store may change. The test fails if LayerRoot resolves
// paths without RESOLVE_IN_ROOT. All targets are below directories of the test, so that a broken
// LayerRoot does no harm to the host.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/random.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;

constexpr int kHostileArchives = 500;

// Where files are synced at once.
std::string FastDirectory() {
  const char* given = std::getenv("TMPDIR");
  if (::access("/dev/shm", W_OK) == 0) return "/dev/shm";
  return given != nullptr ? given : "/tmp";
}

// Everything about the files below a directory that an archive could change.
std::map<std::string, std::string> Snapshot(const Path& directory) {
  std::map<std::string, std::string> files;
  const auto add = [&files](const Path& path) {
    struct stat status {};
    ::lstat(path.c_str(), &status);
    std::string text = std::to_string(status.st_mode) + " " + std::to_string(status.st_uid) + " " +
                       std::to_string(status.st_ino) + " " + std::to_string(status.st_nlink) + " " +
                       std::to_string(status.st_mtim.tv_sec) + "." +
                       std::to_string(status.st_mtim.tv_nsec);
    if (S_ISREG(status.st_mode)) text += " " + *ReadFile(path);
    files[path] = text;
  };
  add(directory);
  for (const auto& entry : fs::recursive_directory_iterator(directory)) add(entry.path());
  return files;
}

// Makes archives from a seed.
class HostileArchive {
 public:
  HostileArchive(uint64_t seed, Path outside) : random_(seed), outside_(std::move(outside)) {}

  std::string Layer() {
    std::vector<TarMember> members;
    const uint64_t count = 1 + random_.Below(Chance(4) ? 40 : 8);
    while (members.size() < count) members.push_back(Member());
    std::string tar = MakeTar(members);
    if (random_.Below(8) == 0) tar.resize(random_.Below(tar.size()));
    if (random_.Below(16) == 0) tar[random_.Below(tar.size() + 1)] ^= 1;
    return tar;
  }
  bool Chance(uint64_t of) { return random_.Below(of) == 0; }
  std::string Filter() {
    const char* filters[] = {"", "", "gzip", "zstd", "xz", "bzip2"};
    return filters[random_.Below(6)];
  }

 private:
  // A few names, so that entries meet each other.
  std::string Word() {
    const char* words[] = {"a", "b", "c", "dir", "link", "secret", "inner", "up", "d"};
    return words[random_.Below(9)];
  }

  std::string Name() {
    std::string name;
    switch (random_.Below(60)) {
      case 0:
        return std::string("../../../../../../..") + outside_.string() + "/secret";
      case 1:
        return Word() + "/../../" + Word();
      case 2:
        return std::string(1 + random_.Below(400), 'n') + "/" + Word();
      case 3:
        return ".wh.." + Word();
      case 4:
      case 5:
        return ".wh." + Word();
      case 6:
      case 7:
        return Word() + "/.wh..wh..opq";
      case 8:
      case 9:
      case 10:
        return outside_.string() + "/" + Word();
      default:
        break;
    }
    for (uint64_t parts = 1 + random_.Below(3); parts > 0; --parts) {
      name += (name.empty() ? "" : "/") + Word();
    }
    return Chance(4) ? "./" + name : name;
  }

  std::string Target() {
    switch (random_.Below(8)) {
      case 0:
        return outside_.string();
      case 1:
        return outside_.string() + "/secret";
      case 2:
        return "../../../../../../../../../.." + outside_.string();
      case 3:
        return "dir/..";
      case 4:
        return "/proc/self/root" + outside_.string();
      case 5:
        return outside_.string() + "/" + Word() + "/" + Word();
      case 6:
        return Word() + "/" + Word();
      default:
        return Word();
    }
  }

  TarMember Member() {
    const char types[] = {'0', '0', '0', '1', '1', '2', '2', '2',
                          '5', '5', '3', '4', '6', '7', 'V'};
    // An attack needs two entries: a link, and what goes through it or replaces it.
    const bool is_again = !names_.empty() && Chance(2);
    TarMember member{is_again ? names_[random_.Below(names_.size())] : Name()};
    if (is_again && Chance(2)) member.name += "/" + Word();
    names_.push_back(member.name);
    member.type = types[random_.Below(sizeof types)];
    if (member.type == '0') member.bytes = "hostile" + std::string(random_.Below(2000), 'x');
    if (member.type == '2') member.target = Chance(3) ? Name() : Target();
    if (member.type == '1') {
      member.target = names_.empty() || Chance(8) ? Target() : names_[random_.Below(names_.size())];
    }
    member.mode = static_cast<unsigned>(random_.Below(010000));
    member.uid = Chance(4) ? 65534 : 0;
    if (Chance(20)) member.records.emplace_back("path", Name());
    if (Chance(10)) member.records.emplace_back("linkpath", Target());
    if (Chance(10)) member.records.emplace_back("uid", "4294967295");
    if (Chance(10)) member.records.emplace_back("SCHILY.xattr.trusted.overlay.redirect", "/etc");
    if (Chance(100)) member.records.emplace_back("size", "99999999999");
    return member;
  }

  Random random_;
  Path outside_;
  std::vector<std::string> names_;  // of earlier entries
};

class HostileArchives : public testing::Test {
 protected:
  HostileArchives() {
    const std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp";
    ::setenv("TMPDIR", FastDirectory().c_str(), 1);
    sandbox_ = std::make_unique<TemporaryDirectory>();
    ::setenv("TMPDIR", before.c_str(), 1);
    outside_ = sandbox_->path() / "outside";
    fs::create_directories(outside_ / "dir/inner");
    for (const char* name : {"secret", "a", "dir/secret", "dir/inner/b"}) {
      EXPECT_TRUE(WriteFile(outside_ / name, "untouched").ok());
    }
    store_ = *ImageStore::Open(sandbox_->path() / "store");
    blobs_ = *BlobStore::Open(sandbox_->path() / "blobs");
    layers_ = *LayerStore::Open(sandbox_->path() / "layers", {1 << 20, 1000});
  }

  // What a layer may never have.
  static void ExpectHarmless(const Path& layer) {
    for (const auto& entry : fs::recursive_directory_iterator(layer)) {
      struct stat status {};
      ::lstat(entry.path().c_str(), &status);
      const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
      EXPECT_TRUE(!is_device || (S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0)))
          << entry.path() << " is a device";
      EXPECT_FALSE(S_ISREG(status.st_mode) && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
          << entry.path() << " changes its user";
    }
  }

  void UnpackHostile(HostileArchive& archive) {
    const std::string tar = archive.Layer();
    const Digest diff_id = archive.Chance(10) ? Digest::Of("other") : Digest::Of(tar);
    const auto layer =
        layers_->Unpack(*blobs_, *blobs_->Put(Compress(tar, archive.Filter())), diff_id);
    if (layer.ok()) {
      ++unpacked_;
      ExpectHarmless(layer->path);
    } else {
      EXPECT_FALSE(layer.error().message.empty());
    }
  }

  void ImportHostile(HostileArchive& archive) {
    const Path file = sandbox_->path() / "store/archive.tar";
    ASSERT_TRUE(WriteFile(file, Compress(archive.Layer(), archive.Filter())).ok());
    EXPECT_FALSE(store_->Import({file}).ok()) << "it has no image";
    fs::remove(file);
  }

  std::unique_ptr<TemporaryDirectory> sandbox_;
  Path outside_;
  std::unique_ptr<ImageStore> store_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<LayerStore> layers_;
  int unpacked_ = 0;
};

TEST_F(HostileArchives, ChangeNothingOutsideOfTheStore) {
  const auto before = Snapshot(outside_);
  for (uint64_t seed = 0; seed < kHostileArchives; ++seed) {
    HostileArchive archive(seed, outside_);
    UnpackHostile(archive);
    if (seed % 5 == 0) ImportHostile(archive);
    ASSERT_EQ(Snapshot(outside_), before) << "the archive with seed " << seed << " left the store";
    if (seed % 50 != 49) continue;
    ASSERT_TRUE(layers_->RemoveOthers({}).ok());
    ASSERT_TRUE(fs::is_empty(sandbox_->path() / "layers"));
    ASSERT_EQ(Snapshot(outside_), before) << "the removal of layers left the store";
  }
  EXPECT_GT(unpacked_, kHostileArchives / 4) << "the archives are too bad to test anything";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(sandbox_->path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_EQ(names.size(), 4u) << "outside, store, blobs, layers";
}

}  // namespace
}  // namespace caip::images
