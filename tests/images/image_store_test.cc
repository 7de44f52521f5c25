#include "images/image_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include "base/sqlite.h"
#include "base/text.h"
#include "images/image_import.h"
#include "tests/images/image_maker.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const Platform kForeign = HostPlatform().architecture == "s390x" ? Platform{"linux", "amd64"}
                                                                 : Platform{"linux", "s390x"};

ImagePlan SmallImage(const std::string& name = "gcr.io/project/image:v1") {
  ImagePlan plan{{{{"base", "1"}, {"gone", "x"}}, {{"top", "2"}, {".wh.gone", ""}}}, name};
  plan.config = {{"Entrypoint", {"/bin/run"}}, {"Env", {"A=b"}}, {"WorkingDir", "/work"}};
  return plan;
}

Descriptor Named(Descriptor descriptor) {
  descriptor.annotations["org.opencontainers.image.ref.name"] = "gcr.io/project/image:v1";
  return descriptor;
}

class ImageStoreTest : public testing::Test {
 protected:
  ImageStoreTest() { store_ = *ImageStore::Open(directory_.path() / "images"); }

  Path WriteArchive(const std::string& bytes, const std::string& name = "image.tar") {
    EXPECT_TRUE(WriteFile(directory_.path() / name, bytes).ok());
    return directory_.path() / name;
  }
  Path WriteLayout(const ImageFiles& files, const std::string& name = "layout") {
    fs::remove_all(directory_.path() / name);
    WriteFiles(directory_.path() / name, files);
    return directory_.path() / name;
  }
  Result<std::vector<ImportedImage>> ImportFrom(const std::string& source,
                                                const std::string& name = "") {
    std::optional<ImageReference> reference;
    if (!name.empty()) reference = *ImageReference::Parse(name);
    return store_->Import(ImageSource::Parse(source), reference);
  }
  std::string ImportError(const ImageFiles& files) {
    const auto imported = ImportFrom(WriteLayout(files));
    EXPECT_FALSE(imported.ok());
    EXPECT_THAT(Names(), IsEmpty()) << "no name is set";
    EXPECT_THAT(*store_->blobs().List(), IsEmpty()) << "no blob is left";
    EXPECT_THAT(store_->blobs().Uploads(), IsEmpty());
    return imported.ok() ? "" : imported.error().message;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::vector<ListedImage> images = *store_->List();
    for (const ListedImage& image : images) {
      names.push_back(image.name.text());
    }
    return names;
  }
  // An image of one layer with these bytes.
  Digest ImportSmall(const std::string& name, const std::string& bytes) {
    const auto imported = ImportFrom(WriteLayout(MakeLayout({{{{{"file", bytes}}}, name}})));
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported->front().digest;
  }
  // As a client pushes a manifest whose blobs the repository has.
  void Push(const std::string& tag, const Digest& manifest) {
    ASSERT_TRUE(
        store_->names().AddManifest("gcr.io/project/image", {manifest, kOciManifest}, {tag}).ok());
  }
  Digest DigestOf(const std::string& name) {
    return *store_->Resolve(*ImageReference::Parse(name));
  }
  Path BlobFile(const Digest& digest) const {
    return directory_.path() / "images/blobs/sha256" / digest.hex();
  }
  RemovedFiles Remove(const std::string& name) {
    const auto removed = store_->Remove(*ImageReference::Parse(name));
    EXPECT_TRUE(removed.ok()) << removed.error().message;
    return removed.ok() ? *removed : RemovedFiles{};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ImageStore> store_;
};

TEST_F(ImageStoreTest, ImportsAnImageFromEverySource) {
  ImagePlan plan = SmallImage();
  plan.filter = "";
  ImagePlan zstd = SmallImage();
  zstd.filter = "zstd";
  ImageFiles with_both = MakeLayout({SmallImage()});  // as docker writes it since version 25
  for (const auto& [name, bytes] : MakeSavedImage({SmallImage()})) with_both[name] = bytes;
  const struct {
    const char* what;
    std::string source;
  } cases[] = {
      {"a layout", WriteLayout(MakeLayout({SmallImage()}))},
      {"a layout, as skopeo calls it", "oci:" + WriteLayout(MakeLayout({SmallImage()})).string()},
      {"a layout with zstd", WriteLayout(MakeLayout({zstd}), "zstd")},
      {"an archive of a layout", WriteArchive(ArchiveOf(MakeLayout({SmallImage()})), "1")},
      {"one with ./", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "", "./"), "2")},
      {"one in a folder", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "", "dir/"), "3")},
      {"one with gzip", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "gzip"), "4")},
      {"one with zstd", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "zstd"), "5")},
      {"docker save", WriteArchive(ArchiveOf(MakeSavedImage({plan})), "6")},
      {"docker save, as skopeo calls it", "docker-archive:" + (directory_.path() / "6").string()},
      {"one with compressed layers", WriteArchive(ArchiveOf(MakeSavedImage({SmallImage()})), "7")},
      {"docker save since version 25", WriteArchive(ArchiveOf(with_both), "8")},
  };
  for (const auto& [what, source] : cases) {
    const auto imported = ImportFrom(source);
    ASSERT_TRUE(imported.ok()) << what << ": " << imported.error().message;
    ASSERT_EQ(imported->size(), 1u) << what;
    ASSERT_EQ(imported->front().names.size(), 1u) << what;
    EXPECT_EQ(imported->front().names.front().text(), "gcr.io/project/image:v1");
    const auto unpacked = store_->Unpack(imported->front().digest);
    ASSERT_TRUE(unpacked.ok()) << what << ": " << unpacked.error().message;
    ASSERT_EQ(unpacked->layers.size(), 2u);
    EXPECT_EQ(*ReadFile(unpacked->layers[0] / "base"), "1");
    EXPECT_EQ(*ReadFile(unpacked->layers[1] / "top"), "2");
    EXPECT_THAT(unpacked->config.entrypoint, ElementsAre("/bin/run"));
    EXPECT_EQ(unpacked->config.working_directory, "/work");
  }
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:v1"));
}

TEST_F(ImageStoreTest, ImportsFromAPipe) {
  const std::string archive = ArchiveOf(MakeSavedImage({SmallImage("busybox:1.36")}));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    ::dup2(ends[0], STDIN_FILENO);
    ::_exit(store_->Import({"-"}).ok() ? 0 : 1);
  }
  ::close(ends[0]);
  EXPECT_TRUE(WriteAll(ends[1], archive));
  ::close(ends[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Names(), ElementsAre("busybox:1.36"));
}

// Docker before version 25 stores equal layers once.
TEST_F(ImageStoreTest, FollowsLinksBetweenLayersOfAnArchive) {
  const ImagePlan plan{{{{"a", "1"}}}, "busybox:1", ""};
  ImageFiles files = MakeSavedImage({plan});
  std::vector<TarMember> members;
  for (const auto& [name, bytes] : files) {
    if (!name.ends_with("layer.tar")) members.push_back({name, bytes});
    if (name.ends_with("layer.tar")) {
      members.push_back({"other/layer.tar", bytes});
      members.push_back(LinkMember(name, "../other/layer.tar"));
    }
  }
  const auto imported = ImportFrom(WriteArchive(MakeTar(members)));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_TRUE(store_->Unpack(imported->front().digest).ok());
}

TEST_F(ImageStoreTest, NamesAnImageAsItIsTold) {
  const Path layout = WriteLayout(MakeLayout({SmallImage("latest")}));
  EXPECT_EQ(ImportFrom(layout).error().message,
            "The image in '" + layout.string() +
                "' has no name. Name it with --name gcr.io/PROJECT/IMAGE:TAG.");
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/p/i").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:latest"));
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage("a.b/c:d")})), "gcr.io/p/i:2").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:2", "gcr.io/p/i:latest"));
  EXPECT_THAT(ImportFrom(layout, "gcr.io/p/i@" + Digest::Of("").text()).error().message,
              HasSubstr("The digest of an image cannot be chosen"));
}

TEST_F(ImageStoreTest, ChoosesOneOfSeveralImages) {
  ImagePlan second = SmallImage("two");
  second.layers.pop_back();
  const Path layout = WriteLayout(MakeLayout({SmallImage("one"), second}));
  EXPECT_EQ(
      ImportFrom(layout, "gcr.io/p/i").error().message,
      "'" + layout.string() + "' has several images: one, two. Choose one, as in oci:PATH:TAG.");
  ASSERT_TRUE(ImportFrom("oci:" + layout.string() + ":two", "gcr.io/p/i").ok());
  EXPECT_EQ(store_->Unpack(DigestOf("gcr.io/p/i"))->layers.size(), 1u);
  EXPECT_EQ(ImportFrom("oci:" + layout.string() + ":three", "gcr.io/p/i").error().message,
            "'" + layout.string() + "' has no image 'three'. It has one, two.");
}

TEST_F(ImageStoreTest, ImportsAllImagesOfAnArchive) {
  ImagePlan second = SmallImage("user/other:2");
  second.layers.pop_back();
  const Path archive = WriteArchive(ArchiveOf(MakeSavedImage({SmallImage("busybox:1"), second})));
  ASSERT_EQ(ImportFrom(archive)->size(), 2u);
  EXPECT_THAT(Names(), ElementsAre("busybox:1", "user/other:2"));
  EXPECT_TRUE(
      ImportFrom("docker-archive:" + archive.string() + ":user/other:2", "gcr.io/p/i").ok());
  EXPECT_EQ(DigestOf("gcr.io/p/i"), DigestOf("user/other:2"));
}

TEST_F(ImageStoreTest, TakesTheImageForThisHost) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  foreign.layers = {{{"foreign", "x"}}};
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const Descriptor other = AddImage(files, foreign);
  const std::string index = IndexOf({other, AddImage(files, SmallImage(""))});
  Descriptor whole{AddBlob(files, index), kOciIndex, index.size()};
  whole.annotations["io.containerd.image.name"] = "gcr.io/p/multi:1";
  files["index.json"] = IndexOf({whole});
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  EXPECT_EQ(DigestOf("gcr.io/p/multi:1"), whole.digest) << "the name means the index";
  EXPECT_EQ(*ReadFile(store_->Unpack(whole.digest)->layers[0] / "base"), "1");
  EXPECT_TRUE(store_->blobs().Has(other.digest)) << "a registry serves it";
  EXPECT_TRUE(store_->names().FindManifest("gcr.io/p/multi", other.digest).ok());

  files.erase("blobs/sha256/" + Digest::Of(Compress(MakeTar(foreign.layers[0]), "gzip")).hex());
  Remove("gcr.io/p/multi:1");
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok()) << "docker save leaves out other platforms";
  EXPECT_FALSE(store_->blobs().Has(other.digest));
  EXPECT_TRUE(store_->Unpack(whole.digest).ok());
}

TEST_F(ImageStoreTest, ALayoutMayBeOneImageForSeveralPlatforms) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({foreign, SmallImage("")})), "gcr.io/p/i").ok());
  EXPECT_EQ(store_->List()->front().platform, HostPlatform());
}

TEST_F(ImageStoreTest, RefusesBadImagesInWords) {
  const ImageFiles good = MakeLayout({SmallImage()});
  const auto with = [&good](const std::string& name, const std::string& bytes) {
    ImageFiles files = good;
    files[name] = bytes;
    return files;
  };
  const auto index = ParseManifest(good.at("index.json"));
  const std::string manifest_name = "blobs/sha256/" + index->manifests[0].digest.hex();
  const auto manifest = ParseManifest(good.at(manifest_name));
  const std::string config_name = "blobs/sha256/" + manifest->config->digest.hex();
  const std::string layer_name = "blobs/sha256/" + manifest->layers[1].digest.hex();
  const auto without = [&good](const std::string& name) {
    ImageFiles files = good;
    files.erase(name);
    return files;
  };
  ImagePlan foreign = SmallImage();
  foreign.platform = kForeign;
  ImageFiles other_size = good;
  other_size["index.json"] = ReplaceAll(good.at("index.json"), R"("size":)", R"("size":1)");
  ImageFiles chart = good;
  const std::string text =
      ReplaceAll(good.at(manifest_name), kOciConfig, "application/vnd.cncf.helm.config.v1+json");
  chart["index.json"] = IndexOf({Named({AddBlob(chart, text), kOciManifest, text.size()})});
  ImageFiles wrong_type = good;
  Descriptor wrong = index->manifests[0];
  wrong.media_type = kDockerManifest;
  wrong_type["index.json"] = IndexOf({wrong});
  ImagePlan fewer = SmallImage();
  ImageFiles other_layers = good;
  fewer.layers.pop_back();
  const std::string fewer_config = ConfigOf(fewer);
  const std::string misfit = MakeManifest(
      {AddBlob(other_layers, fewer_config), kOciConfig, fewer_config.size()}, manifest->layers);
  other_layers["index.json"] =
      IndexOf({Named({AddBlob(other_layers, misfit), kOciManifest, misfit.size()})});
  const struct {
    const char* what;
    ImageFiles files;
    std::string why;
  } cases[] = {
      {"nothing", {{"README", "x"}}, "has no image: neither index.json"},
      {"no members", with("index.json", IndexOf({})), "has no image: neither index.json"},
      {"no JSON", with("index.json", "x"), "The manifest of the image is not valid"},
      {"other version", with("oci-layout", R"({"imageLayoutVersion":"2.0"})"), "'2.0'; only 1"},
      {"no manifest", without(manifest_name), "its manifest, the blob sha256:"},
      {"no configuration", without(config_name), "its configuration, the blob sha256:"},
      {"no layer", without(layer_name), "layer 2 of 2, the blob sha256:"},
      {"damaged manifest", with(manifest_name, good.at(manifest_name) + " "), "are damaged"},
      {"damaged layer", with(layer_name, "x"), "are damaged: their digest is sha256:"},
      {"truncated layer", with(layer_name, good.at(layer_name).substr(0, 50)), "are damaged"},
      {"another architecture", MakeLayout({foreign}), "The image is built for " + kForeign.text()},
      {"wrong size", other_size, "bytes instead of 1"},
      {"a chart", chart, "has the media type application/vnd.cncf.helm.config.v1+json"},
      {"wrong media type", wrong_type, "but it is named as application/vnd.docker.distribution"},
      {"other layers", other_layers, "it has 2 layers, but its configuration names 1"},
  };
  for (const auto& [what, files, why] : cases) {
    EXPECT_THAT(ImportError(files), HasSubstr(why)) << what;
  }
}

TEST_F(ImageStoreTest, RefusesBadArchivesInWords) {
  const std::string good = ArchiveOf(MakeSavedImage({SmallImage()}));
  const std::string without_end = good.substr(0, good.size() - 1024);
  ImageFiles files = MakeSavedImage({SmallImage()});
  const std::string manifest = files.at("manifest.json");
  const auto with_manifest = [&files](const std::string& text) {
    ImageFiles changed = files;
    changed["manifest.json"] = text;
    return ArchiveOf(changed);
  };
  ImageFiles renamed = MakeLayout({SmallImage()});
  renamed["blobs/sha256/" + std::string(64, 'a')] = "other bytes";
  ImagePlan many = SmallImage();
  many.layers = std::vector<std::vector<TarMember>>(128, {{"a", "x"}});
  const struct {
    const char* what;
    std::string bytes;
    std::string why;
  } cases[] = {
      {"nothing", "", "The archive is empty. The program that writes it has probably failed."},
      {"no files", MakeTar({}), "has no image"},
      {"text", "hello, world", "it is not a tar archive"},
      {"truncated", good.substr(0, good.size() / 2), "its end is missing"},
      {"truncated after a file", without_end, "its end is missing"},
      {"truncated gzip", Compress(good, "gzip").substr(0, 300), "The archive is damaged"},
      {"leads out", MakeTar({{"../manifest.json", "x"}}), "leads out of the image"},
      {"no JSON", with_manifest("x"), "manifest.json of the archive is not a JSON list"},
      {"no object", with_manifest("[7]"), "has no Config or no Layers"},
      {"no layer", with_manifest(ReplaceAll(manifest, "/layer.tar", "/gone.tar")), "is missing"},
      {"wrong name of a blob", ArchiveOf(renamed), "are damaged: their digest is"},
      {"128 layers", ArchiveOf(MakeSavedImage({many})), "The image has 128 layers. At most 127"},
  };
  for (const auto& [what, bytes, why] : cases) {
    const auto imported = ImportFrom(WriteArchive(bytes));
    ASSERT_FALSE(imported.ok()) << what;
    EXPECT_THAT(imported.error().message, HasSubstr(why)) << what;
    EXPECT_THAT(*store_->blobs().List(), IsEmpty()) << what;
    EXPECT_THAT(store_->blobs().Uploads(), IsEmpty()) << what;
  }
  EXPECT_THAT(ImportFrom("/no/such/file").error().message,
              HasSubstr("The image '/no/such/file' cannot be read: "));
}

// Each stored blob is synced, so that ten thousand of them take a minute.
TEST_F(ImageStoreTest, CountsLayersBeforeItStoresThem) {
  ImagePlan many = SmallImage();
  many.layers.clear();
  for (int i = 0; i < 128; ++i) many.layers.push_back({{"a", std::to_string(i)}});
  for (const ImageFiles& files : {MakeSavedImage({many}), MakeLayout({many})}) {
    const ImageSource source{WriteArchive(ArchiveOf(files))};
    BlobStore& blobs = store_->blobs();
    const size_t before = blobs.List()->size();
    {
      const auto opened = OpenSource(source, blobs, {});
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      const auto found = FindImages(**opened, source, blobs);
      Status refused = Ok{};
      if (!found.ok()) refused = found.error();
      if (found.ok()) {
        ManifestBudget budget;
        const auto stored =
            StoreImage(**opened, found->front().manifest, HostPlatform(), blobs, budget);
        if (!stored.ok()) refused = stored.error();
      }
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(refused.error().message, HasSubstr("The image has 128 layers. At most 127"));
      EXPECT_LE(blobs.List()->size() - before, 3u) << "the manifest, and what leads to it";
    }
    EXPECT_THAT(blobs.Uploads(), IsEmpty());
  }
}

TEST_F(ImageStoreTest, RefusesLayersThatAreNotTheOnesOfTheConfiguration) {
  ImageFiles files = MakeLayout({SmallImage()});
  ImagePlan other = SmallImage();
  other.layers[1] = {{"other", "x"}};
  const auto manifest = ParseManifest(
      files.at("blobs/sha256/" + ParseManifest(files.at("index.json"))->manifests[0].digest.hex()));
  const std::string config = ConfigOf(other);
  const std::string text =
      MakeManifest({AddBlob(files, config), kOciConfig, config.size()}, manifest->layers);
  files["index.json"] = IndexOf({{AddBlob(files, text), kOciManifest, text.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/p/i").ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/p/i"));
  ASSERT_FALSE(unpacked.ok());
  EXPECT_THAT(unpacked.error().message,
              HasSubstr("Layer 2 of 2 cannot be unpacked: A layer of the image is not the one"));
  EXPECT_EQ(unpacked.error().reason, "digestMismatch");
}

TEST_F(ImageStoreTest, AStackHasEachLayerOnce) {
  const std::vector<TarMember> a = {{"a", "1"}};
  const std::vector<TarMember> b = {{".wh.a", ""}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({{{a, b, a}}}))).ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
  ASSERT_EQ(unpacked->layers.size(), 2u) << "overlayfs takes no directory twice";
  EXPECT_EQ(unpacked->layers[0].filename(), Digest::Of(MakeTar(b)).hex());
  EXPECT_EQ(unpacked->layers[1].filename(), Digest::Of(MakeTar(a)).hex());
}

TEST_F(ImageStoreTest, ResolvesTagsAndDigests) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  const Digest digest = DigestOf("gcr.io/project/image:v1");
  EXPECT_EQ(DigestOf("gcr.io/project/image@" + digest.text()), digest);
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("gcr.io/project/image")).error().message,
            "The image store has no image 'gcr.io/project/image:latest'. Its repository has the "
            "tags v1.");
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("busybox")).error().message,
            "The image store has no image 'busybox:latest'.");
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("gcr.io/other@" + digest.text())).error().reason,
            "manifestUnknown");
}

TEST_F(ImageStoreTest, ListsImages) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  const ListedImage image = store_->List()->front();
  EXPECT_EQ(image.platform, HostPlatform());
  EXPECT_EQ(image.layers, 2u);
  EXPECT_GT(image.bytes, 100u);
  EXPECT_FALSE(image.is_unpacked);
  ASSERT_TRUE(store_->Unpack(image.name.digest).ok());
  EXPECT_TRUE(store_->List()->front().is_unpacked);
  const std::vector<BlobInfo> blobs = *store_->blobs().List();
  for (const BlobInfo& blob : blobs) {
    ASSERT_TRUE(store_->blobs().Remove(blob.digest).ok());
  }
  EXPECT_THAT(store_->List()->front().problem, HasSubstr("has no blob"));
}

TEST_F(ImageStoreTest, RemovesWhatNoOtherNameNeeds) {
  ImagePlan second = SmallImage("gcr.io/project/other:v1");
  second.layers[1] = {{"other", "3"}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage(), second}))).ok());
  ASSERT_TRUE(
      ImportFrom("oci:" + (directory_.path() / "layout").string() + ":gcr.io/project/other:v1",
                 "gcr.io/project/image:v2")
          .ok());
  for (const char* name : {"gcr.io/project/image:v1", "gcr.io/project/other:v1"}) {
    ASSERT_TRUE(store_->Unpack(DigestOf(name)).ok());
  }
  EXPECT_EQ(store_->blobs().List()->size(), 7u) << "two manifests and configurations, three layers";

  const RemovedFiles first = Remove("gcr.io/project/image:v1");
  EXPECT_EQ(first.blobs, 3u) << "its manifest, configuration and upper layer";
  EXPECT_EQ(first.layers, 1u);
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/other:v1")).ok());
  EXPECT_EQ(Remove("gcr.io/project/other:v1").blobs, 0u) << "another repository has it, too";
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v2")).ok());
  EXPECT_EQ(Remove("gcr.io/project/image:v2").blobs, 4u);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
  EXPECT_THAT(*store_->names().Repositories(), IsEmpty());
  EXPECT_EQ(store_->Remove(*ImageReference::Parse("gcr.io/project/image:v2")).error().reason,
            "nameUnknown");
}

TEST_F(ImageStoreTest, AnImportRemovesTheImageThatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  ASSERT_TRUE(store_->Unpack(first).ok());
  const Digest second = ImportSmall(name, "two");
  EXPECT_THAT(Names(), ElementsAre(name));
  EXPECT_EQ(store_->names().Manifests("gcr.io/project/image")->size(), 1u);
  EXPECT_EQ(store_->blobs().List()->size(), 3u) << "those of the second image";
  EXPECT_FALSE(store_->blobs().Has(first));
  EXPECT_EQ(store_->CollectGarbage()->layers, 0u) << "its layer is gone, too";
  EXPECT_TRUE(store_->Unpack(second).ok());
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout").ok());
  EXPECT_THAT(Names(), ElementsAre(name)) << "the same image does not replace itself";
  EXPECT_EQ(Remove(name).blobs, 3u);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, AnImportOfAnArchiveRemovesTheImageThatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  for (const char* bytes : {"one", "two"}) {
    const ImagePlan plan{{{{"file", bytes}}}, name};
    ASSERT_TRUE(ImportFrom(WriteArchive(ArchiveOf(MakeSavedImage({plan})))).ok());
  }
  EXPECT_THAT(Names(), ElementsAre(name));
  EXPECT_EQ(store_->blobs().List()->size(), 3u);
}

TEST_F(ImageStoreTest, AnImportKeepsAReplacedImageThatAnotherTagMeans) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/image:old").ok());
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/other:1").ok());
  ImportSmall(name, "two");
  EXPECT_EQ(DigestOf("gcr.io/project/image:old"), first);
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/image:old").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:old", name, "gcr.io/project/other:1"));
  EXPECT_TRUE(store_->Unpack(first).ok()) << "another repository has it, too";
}

TEST_F(ImageStoreTest, AnImageThatAnIndexMeansStaysWithoutItsTag) {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const Descriptor member = AddImage(files, SmallImage(""));
  const std::string index = IndexOf({member});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/project/image:multi").ok());
  const auto has_member = [&] {
    return store_->names().FindManifest("gcr.io/project/image", member.digest).ok();
  };
  Push("v1", member.digest);
  ImportSmall("gcr.io/project/image:v1", "one");
  EXPECT_TRUE(has_member()) << "an import replaced its tag";
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:multi", "gcr.io/project/image:v1"));
  Push("v2", member.digest);
  EXPECT_EQ(Remove("gcr.io/project/image:v2").blobs, 0u);
  EXPECT_TRUE(has_member()) << "its tag was removed";
  Remove("gcr.io/project/image:multi");
  EXPECT_FALSE(has_member());
}

TEST_F(ImageStoreTest, AnImportKeepsAReplacedImageThatIsInUse) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const std::string old_name = "gcr.io/project/image@" + first.text();
  {
    const auto in_use = store_->Unpack(first);
    ASSERT_TRUE(in_use.ok());
    ImportSmall(name, "two");
    EXPECT_THAT(Names(), ElementsAre(name, old_name));
    EXPECT_EQ(DigestOf(old_name), first) << "another replica of the job may need it";
  }
  const RemovedFiles removed = Remove(old_name);
  EXPECT_EQ(removed.blobs, 3u);
  EXPECT_EQ(removed.layers, 1u);
  EXPECT_THAT(Names(), ElementsAre(name));
}

TEST_F(ImageStoreTest, AnImportDoesNotWaitForOthersToRemoveWhatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const auto other = store_->LockForAdding();
  ASSERT_TRUE(other.ok());
  ImportSmall(name, "two");
  EXPECT_THAT(Names(), ElementsAre(name, "gcr.io/project/image@" + first.text()));
}

// Clients pull a pushed manifest by its digest after its tag means another one.
TEST_F(ImageStoreTest, ListsPushedImagesWithoutTagsByTheirDigests) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const Digest second = ImportSmall("gcr.io/project/image:other", "two");
  Push("v1", second);
  Remove("gcr.io/project/image:other");
  const std::string old_name = "gcr.io/project/image@" + first.text();
  EXPECT_THAT(Names(), ElementsAre(name, old_name));
  const ListedImage listed = store_->List()->back();
  EXPECT_EQ(listed.name.tag, "");
  EXPECT_EQ(listed.name.digest, first);
  EXPECT_EQ(listed.platform, HostPlatform());
  EXPECT_TRUE(store_->Unpack(first).ok());
  Remove(name);
  EXPECT_THAT(Names(), ElementsAre(old_name)) << "what is on the disk is listed";
  Remove(old_name);
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

// Each file of the image in the store, with other bytes of the same size and of another size.
TEST_F(ImageStoreTest, AnImportReplacesDamagedBlobs) {
  const ImageFiles files = MakeLayout({SmallImage()});
  ImageFiles saved = MakeSavedImage({SmallImage()});
  const std::string sources[] = {WriteLayout(files), WriteArchive(ArchiveOf(files), "layout.tar"),
                                 WriteArchive(ArchiveOf(saved), "saved.tar")};
  for (const std::string& source : sources) {
    ASSERT_TRUE(ImportFrom(source).ok());
    const std::vector<BlobInfo> blobs = *store_->blobs().List();
    for (const BlobInfo& blob : blobs) {
      const Path path = directory_.path() / "images/blobs/sha256" / blob.digest.hex();
      const std::string intact = *ReadFile(path);
      for (const std::string& damaged : {std::string(intact.size(), 'x'), intact + "x"}) {
        ASSERT_TRUE(WriteFile(path, damaged).ok());
        const auto imported = ImportFrom(source);
        ASSERT_TRUE(imported.ok()) << source << ": " << imported.error().message;
        EXPECT_EQ(*ReadFile(path), intact) << source;
      }
    }
    ASSERT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v1")).ok()) << source;
    Remove("gcr.io/project/image:v1");
  }
}

// Damages the bytes of a manifest: others of the same size, fewer, none, and no file.
const std::vector<std::function<void(const Path&)>> kDamages = {
    [](const Path& file) {
      std::string bytes = *ReadFile(file);
      char& digit = bytes[bytes.find("sha256:") + 10];  // of a digest that it names
      digit = digit == '0' ? '1' : '0';
      EXPECT_TRUE(WriteFile(file, bytes).ok());
    },
    [](const Path& file) { EXPECT_TRUE(WriteFile(file, ReadFile(file)->substr(0, 20)).ok()); },
    [](const Path& file) { EXPECT_TRUE(WriteFile(file, "").ok()); },
    [](const Path& file) { EXPECT_TRUE(fs::remove(file)); },
};

TEST_F(ImageStoreTest, AnImageWithoutItsManifestIsRemovedWithItsBlobs) {
  const std::string name = "gcr.io/project/image:v1";
  ImagePlan other = SmallImage("gcr.io/other/image:v1");
  other.layers[1] = {{"other", "3"}};
  for (size_t i = 0; i < kDamages.size(); ++i) {
    ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage(), other}))).ok());
    const Digest pushed = *store_->blobs().Put("of a push that has no manifest yet");
    ASSERT_TRUE(store_->names().Link("gcr.io/project/image", pushed).ok());
    kDamages[i](BlobFile(DigestOf(name)));
    Remove(name);
    EXPECT_THAT(Names(), ElementsAre("gcr.io/other/image:v1")) << i;
    EXPECT_THAT(*store_->names().Links("gcr.io/project/image"), ElementsAre(pushed)) << i;
    EXPECT_EQ(store_->blobs().List()->size(), 5u) << i << ": four of the other image";
    EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/other/image:v1")).ok()) << i;
    Remove("gcr.io/other/image:v1");
    EXPECT_EQ(store_->blobs().List()->size(), 1u) << i;
  }
}

TEST_F(ImageStoreTest, AnImportRemovesAReplacedImageWithoutItsManifest) {
  const std::string name = "gcr.io/project/image:v1";
  for (size_t i = 0; i < kDamages.size(); ++i) {
    kDamages[i](BlobFile(ImportSmall(name, "one")));
    ImportSmall(name, "two");
    EXPECT_EQ(store_->blobs().List()->size(), 3u) << i << ": those of the second image";
  }
}

TEST_F(ImageStoreTest, AnIndexWithoutItsBytesTakesItsMembersWithIt) {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  const std::string index = IndexOf({AddImage(files, foreign), AddImage(files, SmallImage(""))});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  for (size_t i = 0; i < kDamages.size(); ++i) {
    const Digest digest = ImportFrom(WriteLayout(files), "gcr.io/p/i")->front().digest;
    kDamages[i](BlobFile(digest));
    EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:latest")) << i << ": not its members";
    Remove("gcr.io/p/i");
    EXPECT_THAT(*store_->names().Repositories(), IsEmpty()) << i;
    EXPECT_THAT(*store_->blobs().List(), IsEmpty()) << i;
  }
}

// The other image is damaged, too: it keeps its blobs until a new import repairs its manifest.
TEST_F(ImageStoreTest, ARemovalKeepsTheBlobsOfAnotherDamagedImage) {
  ImagePlan other = SmallImage("gcr.io/project/image:v2");
  other.layers[1] = {{"other", "3"}};
  const Path layout = WriteLayout(MakeLayout({SmallImage(), other}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(fs::remove(BlobFile(DigestOf("gcr.io/project/image:v2"))));
  EXPECT_EQ(Remove("gcr.io/project/image:v1").blobs, 3u);
  EXPECT_EQ(store_->blobs().List()->size(), 3u) << "its configuration and layers";
}

// The manifests of an earlier version have no parts in the table of names.
TEST_F(ImageStoreTest, ACollectionNotesThePartsOfEarlierImages) {
  const std::string name = "gcr.io/project/image:v1";
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  {
    SqliteDatabase database(directory_.path() / "images/names.db",
                            [](Code code, const Path&, std::string_view why) {
                              return Error{code, std::string(why)};
                            });
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kExisting).ok());
    ASSERT_TRUE(database.Run("DROP TABLE parts").ok());
  }
  store_ = *ImageStore::Open(directory_.path() / "images");
  EXPECT_THAT(*store_->names().Parts(DigestOf(name)), IsEmpty());
  EXPECT_EQ(store_->CollectGarbage()->blobs, 0u);
  EXPECT_EQ(store_->names().Parts(DigestOf(name))->size(), 3u);
  ASSERT_TRUE(fs::remove(BlobFile(DigestOf(name))));
  Remove(name);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, DoesNotRunAnImageWhoseConfigurationIsDamaged) {
  ImagePlan plan = SmallImage();
  plan.config = {{"Entrypoint", {"/bin/run"}}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({plan}))).ok());
  const Digest config = Digest::Of(ConfigOf(plan));
  ASSERT_TRUE(WriteFile(BlobFile(config), ReplaceAll(ConfigOf(plan), "/bin/run", "/bin/rux")).ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.error().reason, "digestMismatch") << unpacked.error().message;
  EXPECT_THAT(store_->List()->front().problem, HasSubstr("are damaged"));
}

// The store may have what a source leaves out, but only whole.
TEST_F(ImageStoreTest, ADamagedBlobDoesNotStandInForAMissingFile) {
  ImageFiles files = MakeLayout({SmallImage()});
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  const Digest layer = Digest::Of(Compress(MakeTar(SmallImage().layers[1]), "gzip"));
  files.erase("blobs/sha256/" + layer.hex());
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  const Path path = directory_.path() / "images/blobs/sha256" / layer.hex();
  for (const std::string& damaged : {std::string(ReadFile(path)->size(), 'x'), std::string("x")}) {
    ASSERT_TRUE(WriteFile(path, damaged).ok());
    const auto imported = ImportFrom(WriteLayout(files));
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.error().reason, "blobMissing") << imported.error().message;
  }
}

// While it lives, a thread that opens the file for writing waits. The kernel's leases do that.
class HeldFile {
 public:
  explicit HeldFile(const Path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGIO);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    is_held_ = ::fcntl(file_.get(), F_SETLEASE, F_RDLCK) == 0;
  }
  ~HeldFile() {
    Release();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool is_held() const { return is_held_; }
  /// True when a thread waits.
  bool WaitForOpener() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGIO);
    const timespec patience{.tv_sec = 30, .tv_nsec = 0};
    return ::sigtimedwait(&signals, nullptr, &patience) == SIGIO;
  }
  void Release() { file_.Close(); }

 private:
  Fd file_;
  sigset_t before_{};
  bool is_held_ = false;
};

// Layers may have millions of files. The store's own lock is free when they are removed, so that
// pushes and imports do not wait, also of an image with the same layers.
TEST_F(ImageStoreTest, IsFreeForImportsWhileLayersAreRemoved) {
  const std::string name = "gcr.io/project/image:v1";
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  const Path layer = store_->Unpack(DigestOf(name))->layers.front();
  HeldFile layer_lock(layer.string() + ".lock");
  if (!layer_lock.is_held()) GTEST_SKIP() << "this file system has no leases";
  std::thread removal([&] { EXPECT_EQ(Remove(name).layers, 2u); });
  EXPECT_TRUE(layer_lock.WaitForOpener()) << "no layer is removed";
  Fd store_lock(::open((directory_.path() / "images" / "lock").c_str(), O_RDWR | O_CLOEXEC));
  const bool is_free = ::flock(store_lock.get(), LOCK_SH | LOCK_NB) == 0;
  EXPECT_TRUE(is_free);
  store_lock.Close();
  if (is_free) {
    EXPECT_TRUE(ImportFrom(layout).ok());
  }
  layer_lock.Release();
  removal.join();
  ASSERT_TRUE(is_free);
  EXPECT_FALSE(fs::exists(layer));
  const auto unpacked = store_->Unpack(DigestOf(name));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(*ReadFile(unpacked->layers.front() / "base"), "1") << "unpacked again";
}

TEST_F(ImageStoreTest, ATagOfTwoKeepsTheImage) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/project/image:v2").ok());
  EXPECT_EQ(Remove("gcr.io/project/image:v1").blobs, 0u);
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v2")).ok());
}

TEST_F(ImageStoreTest, ADigestRemovesAllItsTags) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/project/image:v2").ok());
  Remove("gcr.io/project/image@" + DigestOf("gcr.io/project/image:v1").text());
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, AnIndexTakesItsMembersWithIt) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const std::string index = IndexOf({AddImage(files, foreign), AddImage(files, SmallImage(""))});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/p/i").ok());
  EXPECT_EQ(store_->names().Manifests("gcr.io/p/i")->size(), 3u);
  Remove("gcr.io/p/i");
  EXPECT_THAT(*store_->names().Repositories(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

// A layout of 100 kB whose indexes name the image eight million times.
ImageFiles NestedIndexes() {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  Descriptor member = AddImage(files, SmallImage(""));
  for (int i = 0; i < 3; ++i) {
    const std::string index = IndexOf(std::vector<Descriptor>(200, member));
    member = {AddBlob(files, index), kOciIndex, index.size()};
  }
  files["index.json"] = IndexOf({Named(member)});
  return files;
}

TEST_F(ImageStoreTest, ReadsAMemberThatIndexesNameOftenOnce) {
  const auto imported = ImportFrom(WriteLayout(NestedIndexes()));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(store_->names().Manifests("gcr.io/project/image")->size(), 4u);
  EXPECT_TRUE(store_->Unpack(imported->front().digest).ok());
  EXPECT_EQ(store_->CollectGarbage()->blobs, 0u);
  EXPECT_EQ(Remove("gcr.io/project/image:v1").blobs, 7u);
  EXPECT_THAT(*store_->names().Repositories(), IsEmpty());
}

TEST_F(ImageStoreTest, RefusesMoreManifestsThanAnImportReads) {
  const Path layout = WriteLayout(NestedIndexes());
  const struct {
    ManifestBudget budget;
    bool is_enough;
  } cases[] = {{{.count = 4}, true}, {{.count = 3}, false}, {{.count = 4, .bytes = 60'000}, false}};
  for (const auto& [budget, is_enough] : cases) {
    const auto store =
        *ImageStore::Open(directory_.path() / "other", ImageStoreOptions{.manifests = budget});
    const auto imported = store->Import(ImageSource::Parse(layout.string()));
    ASSERT_EQ(imported.ok(), is_enough) << budget.count << " " << budget.bytes;
    if (is_enough) {
      ASSERT_TRUE(store->Remove(*ImageReference::Parse("gcr.io/project/image:v1")).ok());
      continue;
    }
    EXPECT_EQ(imported.error().reason, "imageTooLarge");
    EXPECT_EQ(imported.error().code, Code::kResourceExhausted);
    EXPECT_THAT(imported.error().message, HasSubstr("name more manifests than an import reads"));
    EXPECT_THAT(*store->blobs().List(), IsEmpty());
  }
}

TEST_F(ImageStoreTest, RefusesAnArchiveOfLongNames) {
  std::string tar;
  for (int i = 0; i < 70; ++i) {
    AppendTarMember(tar, LinkMember(std::string(1'000'000, 'n') + std::to_string(i), "t"));
  }
  tar.append(1024, '\0');
  const auto imported = ImportFrom(WriteArchive(tar));
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().message,
            "The names of the files in the archive have more than 67108864 bytes. It is not an "
            "archive of an image.");
}

TEST_F(ImageStoreTest, CountsTheHeadersOfAnArchive) {
  const auto store = *ImageStore::Open(directory_.path() / "other",
                                       ImageStoreOptions{.limits = {.bytes = 2 << 20}});
  const TarMember comment{"pax_global_header", std::string(1 << 20, '\0'), 'g'};
  const Path archive = WriteArchive(MakeTar({comment, comment, comment}));
  const auto imported = store->Import(ImageSource::Parse(archive.string()));
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().reason, "imageTooLarge") << imported.error().message;
}

TEST_F(ImageStoreTest, LayersInUseStayUntilTheyAreFree) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  {
    const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
    EXPECT_EQ(Remove("gcr.io/project/image:v1").layers, 0u);
    EXPECT_EQ(*ReadFile(unpacked->layers[0] / "base"), "1");
  }
  EXPECT_EQ(store_->CollectGarbage()->layers, 2u);
}

// What a registry has received and not yet named.
TEST_F(ImageStoreTest, GarbageCollectionKeepsLinkedBlobsAndForeignUploads) {
  const Digest linked = *store_->blobs().Put("linked");
  const Digest lost = *store_->blobs().Put("lost");
  ASSERT_TRUE(store_->names().Link("gcr.io/p/i", linked).ok());
  ASSERT_TRUE(store_->blobs().Begin("of-a-client")->Append("x").ok());
  ASSERT_TRUE(store_->blobs().Begin("caip-1-1")->Append("of a killed process").ok());
  const BlobUpload running = *store_->blobs().Begin("caip-2-2");
  EXPECT_EQ(store_->CollectGarbage()->blobs, 1u);
  EXPECT_TRUE(store_->blobs().Has(linked));
  EXPECT_FALSE(store_->blobs().Has(lost));
  EXPECT_THAT(store_->blobs().Uploads(), UnorderedElementsAre("of-a-client", "caip-2-2"));
}

TEST_F(ImageStoreTest, ImportsRemovalsAndUnpackingMayHappenAtOnce) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &layout, &failures, i] {
      const auto store = *ImageStore::Open(directory_.path() / "images");  // as another process
      const auto name = *ImageReference::Parse("gcr.io/p/i" + std::to_string(i));
      for (int round = 0; round < 5; ++round) {
        const auto imported = store->Import({layout}, name);
        const auto unpacked = imported.ok() ? store->Unpack(imported->front().digest)
                                            : Result<UnpackedImage>(imported.error());
        const bool is_whole = unpacked.ok() && fs::exists(unpacked->layers[1] / "top");
        const auto removed = store->Remove(name);
        if (!is_whole || !removed.ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
  ASSERT_TRUE(store_->CollectGarbage().ok());
  for (const auto& entry : fs::directory_iterator(directory_.path() / "images/layers")) {
    ADD_FAILURE() << entry.path() << " is left";
  }
}

TEST_F(ImageStoreTest, IsClosedToOtherUsers) {
  EXPECT_EQ(fs::status(directory_.path() / "images").permissions(), fs::perms::owner_all);
}

TEST(ImageSource, ReadsTheWordsOfOtherTools) {
  TemporaryDirectory directory;
  const Path with_colon = directory.path() / "a:b";
  fs::create_directory(with_colon);
  const auto expect = [](const std::string& text, const Path& path, const std::string& tag) {
    const ImageSource source = ImageSource::Parse(text);
    EXPECT_EQ(source.path, path) << text;
    EXPECT_EQ(source.tag, tag) << text;
  };
  expect("-", "-", "");
  expect("image.tar", "image.tar", "");
  expect(with_colon, with_colon, "");
  expect("oci:" + with_colon.string(), with_colon, "");
  expect("oci:" + with_colon.string() + ":tag", with_colon, "tag");
  expect("oci-archive:" + with_colon.string() + ":gcr.io/p/i:tag", with_colon, "gcr.io/p/i:tag");
  expect("docker-archive:missing.tar:busybox:1", "missing.tar", "busybox:1");
  EXPECT_EQ(ImageSource::Parse("-").text(), "the standard input");
}

}  // namespace
}  // namespace caip::images
