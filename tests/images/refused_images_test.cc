// Images that an import refuses: wrong and damaged files, and more than the limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "images/image_import.h"
#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace caip::images
