#include "images/image_reference.h"

#include <gtest/gtest.h>

#include <string>

namespace caip::images {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ImageReference, HasAHostAPathAndATag) {
  const auto reference = *ImageReference::Parse("gcr.io/project/sub/image:v1.2");
  EXPECT_EQ(reference.host(), "gcr.io");
  EXPECT_EQ(reference.path(), "project/sub/image");
  EXPECT_EQ(reference.repository(), "gcr.io/project/sub/image");
  EXPECT_EQ(reference.tag(), "v1.2");
  EXPECT_FALSE(reference.digest());
}

TEST(ImageReference, IsReadAsDockerReadsIt) {
  const struct {
    std::string text;
    std::string whole;
  } cases[] = {
      {"busybox", "docker.io/library/busybox:latest"},
      {"busybox:1.36", "docker.io/library/busybox:1.36"},
      {"user/image", "docker.io/user/image:latest"},
      {"docker.io/busybox", "docker.io/library/busybox:latest"},
      {"docker.io/user/image:a", "docker.io/user/image:a"},
      {"localhost/image", "localhost/image:latest"},
      {"localhost:5000/image", "localhost:5000/image:latest"},
      {"localhost:5000/image:2", "localhost:5000/image:2"},
      {"127.0.0.1:8080/a/b:c", "127.0.0.1:8080/a/b:c"},
      {"[::1]:5000/image", "[::1]:5000/image:latest"},
      {"gcr.io/p/i", "gcr.io/p/i:latest"},
      {"eu.gcr.io/example.com/p/i:x", "eu.gcr.io/example.com/p/i:x"},
      {"europe-docker.pkg.dev/p/r/i:x", "europe-docker.pkg.dev/p/r/i:x"},
      {"gcr.io/p/i@" + kDigest, "gcr.io/p/i@" + kDigest},
      {"gcr.io/p/i:t@" + kDigest, "gcr.io/p/i:t@" + kDigest},
      {"a-b.c/d--e/f__g_h.i-j:A_B.c-d", "a-b.c/d--e/f__g_h.i-j:A_B.c-d"},
      {"gcr.io/p/i:" + std::string(128, 'x'), "gcr.io/p/i:" + std::string(128, 'x')},
  };
  for (const auto& [text, whole] : cases) {
    const auto reference = ImageReference::Parse(text);
    ASSERT_TRUE(reference.ok()) << text << ": " << reference.error().message;
    EXPECT_EQ(reference->text(), whole);
    EXPECT_EQ(ImageReference::Parse(whole)->text(), whole) << "read again";
  }
}

TEST(ImageReference, RefusesOtherNamesInWords) {
  const struct {
    std::string text;
    std::string why;
  } cases[] = {
      {"", "the name of the image is missing"},
      {"gcr.io/", "the name of the image is missing"},
      {"gcr.io/Project/image", "has no upper-case letters"},
      {"Busybox", "has no upper-case letters"},
      {"gcr.io/p//i", "each part of the path needs"},
      {"gcr.io/p/i/", "each part of the path needs"},
      {"gcr.io/p/-i", "each part of the path needs"},
      {"gcr.io/p/i_", "each part of the path needs"},
      {"gcr.io/p/i..j", "each part of the path needs"},
      {"gcr.io/p/i___j", "each part of the path needs"},
      {"gcr.io/p/i._j", "each part of the path needs"},
      {"gcr.io/../etc/passwd", "each part of the path needs"},
      {"../etc/passwd", "is not the name of a host"},
      {"gcr.io/p/i j", "each part of the path needs"},
      {"gcr.io/p/\xc3\xa4", "each part of the path needs"},
      {std::string("gcr.io/p/i\0j", 12), "each part of the path needs"},
      {"gcr.io/p/i:", "a tag has 1 to 128"},
      {"gcr.io/p/i:-a", "a tag has 1 to 128"},
      {"gcr.io/p/i:.a", "a tag has 1 to 128"},
      {"gcr.io/p/i:a/b:c d", "a tag has 1 to 128"},
      {"gcr.io/p/i:" + std::string(129, 'x'), "a tag has 1 to 128"},
      {"gcr.io/p/i@sha256:12", "the part after '@'"},
      {"gcr.io/p/i@", "the part after '@'"},
      {"gcr.io:port/p", "is not the name of a host"},
      {"-a.b/p", "is not the name of a host"},
      {"a..b/p", "is not the name of a host"},
      {"[::x]/p", "is not the name of a host"},
      {"[]/p", "is not the name of a host"},
      {"gcr.io/" + std::string(249, 'x'), "more than 255 characters"},
  };
  for (const auto& [text, why] : cases) {
    const auto reference = ImageReference::Parse(text);
    ASSERT_FALSE(reference.ok()) << text;
    EXPECT_EQ(reference.error().reason, "imageNameInvalid");
    EXPECT_NE(reference.error().message.find(why), std::string::npos) << reference.error().message;
  }
  EXPECT_EQ(ImageReference::Parse("gcr.io/P/i").error().message,
            "'gcr.io/P/i' is not a valid name of an image: the path of a repository has no "
            "upper-case letters. Write it as gcr.io/PROJECT/IMAGE:TAG.");
}

TEST(FamiliarName, LeavesOutDockersDefaults) {
  EXPECT_EQ(FamiliarName("docker.io/library/busybox", "1"), "busybox:1");
  EXPECT_EQ(FamiliarName("docker.io/user/image", "1"), "user/image:1");
  EXPECT_EQ(FamiliarName("docker.io/library/a/b", "1"), "library/a/b:1");
  EXPECT_EQ(FamiliarName("gcr.io/p/i", "1"), "gcr.io/p/i:1");
  EXPECT_EQ(FamiliarName("docker.io/a.b/c", "1"), "docker.io/a.b/c:1") << "a.b would be a host";
  const Digest digest = Digest::Of("x");
  EXPECT_EQ(FamiliarName("docker.io/library/busybox", digest), "busybox@" + digest.text());
  EXPECT_EQ(FamiliarName("gcr.io/p/i", digest), "gcr.io/p/i@" + digest.text());
}

}  // namespace
}  // namespace caip::images
