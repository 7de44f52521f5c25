#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/encoding.h"
#include "base/random.h"
#include "base/text.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

TEST(ObjectPath, LeavesOrdinaryNamesAsTheyAre) {
  const std::string full(255, 'x');
  for (const std::string& name :
       {std::string("model.h5"), std::string("data/train-00000-of-00010.tfrecord"),
        std::string("a b/c (1)+[2]&=,;'\"\\"), std::string("größe/日本/😀.txt"), std::string("100%"),
        std::string("50%off"), std::string("a%2"), std::string(".hidden/..."),
        std::string("%zz%2f"), full, "x/" + full}) {
    EXPECT_EQ(PlainPath(name), name);
    EXPECT_EQ(NameOfPath(name), name);
  }
}

struct ObjectPathCase {
  std::string name;
  std::string path;
};

TEST(ObjectPath, EscapesWhatNoDirectoryCanHold) {
  const ObjectPathCase cases[] = {
      {"dir/", "dir/%~"},
      {"/", "%~/%~"},
      {"/lead", "%~/lead"},
      {"a//b", "a/%~/b"},
      {".", "%2E"},
      {"a/../b", "a/%2E%2E/b"},
      {"./x", "%2E/x"},
      {"tab\there", "tab%09here"},
      {std::string("nul\0!", 5), "nul%00!"},
      {"\x7f", "%7F"},
      {"\xff\xfe", "%FF%FE"},
      {"a%2Fb", "a%252Fb"},
      {"%~", "%25~"},
      {"%%09", "%%2509"},
      {"a%~file", "a%25~file"},
      {std::string(256, 'x'), std::string(240, 'x') + "%~/" + std::string(16, 'x')},
  };
  for (const ObjectPathCase& row : cases) {
    EXPECT_EQ(PlainPath(row.name), row.path);
    EXPECT_EQ(NameOfPath(row.path), row.name) << row.path;
  }
}

TEST(ObjectPath, GivesAnObjectBesideADirectoryAPlaceOfItsOwn) {
  const ObjectPathCase cases[] = {
      {"a", "a%~file"},
      {"x/a", "x/a%~file"},
      {"a/", "a/%~%~file"},
      {std::string(250, 'x'), std::string(240, 'x') + "%~/" + std::string(10, 'x') + "%~file"},
  };
  for (const ObjectPathCase& row : cases) {
    EXPECT_EQ(BesidePath(row.name), row.path);
    EXPECT_EQ(NameOfPath(row.path), row.name) << row.path;
  }
}

TEST(ObjectPath, KnowsPathsThatBelongToNoObject) {
  for (const std::string path :
       {"%41%09%2E", "tab\there", "a%~", "a%~/b", "%~x", "%2E%2Ex", "\xff", "%~file"}) {
    EXPECT_EQ(NameOfPath(path), std::nullopt) << path;
  }
}

// Names made of what is hard: the rule's own marks, dots, slashes, controls, broken UTF-8.
std::string NastyName(Random& random) {
  static const std::vector<std::string> kPieces = {"/",
                                                   "//",
                                                   ".",
                                                   "..",
                                                   "%",
                                                   "%~",
                                                   "~",
                                                   "%~file",
                                                   "%2",
                                                   "%2E",
                                                   "%25",
                                                   "A",
                                                   "2F",
                                                   "a",
                                                   "b",
                                                   " ",
                                                   "\n",
                                                   "\x01",
                                                   "\x7f",
                                                   "\xff",
                                                   "\xc3\xa9",
                                                   "\xf0\x9f\x98\x80",
                                                   "\xe2\x82",
                                                   std::string(1, '\0'),
                                                   std::string(100, 'y'),
                                                   std::string(239, 'z'),
                                                   "file"};
  std::string name;
  const uint64_t count = 1 + random.Below(12);
  for (uint64_t i = 0; i < count; ++i) name += kPieces[random.Below(kPieces.size())];
  return name.substr(0, 1024);
}

std::string AnyBytes(Random& random) {
  std::string name(1 + random.Below(random.Below(8) == 0 ? 1024 : 20), 'x');
  for (char& c : name) c = static_cast<char>(random.Below(256));
  return name;
}

void ExpectStaysInside(const std::string& path, const std::string& name) {
  ASSERT_FALSE(path.empty()) << Hex(name);
  ASSERT_LT(path.size(), 4096u) << Hex(name);
  ASSERT_EQ(path.find('\0'), std::string::npos) << Hex(name);
  for (const std::string& piece : Split(path, '/')) {
    ASSERT_FALSE(piece.empty() || piece == "." || piece == ".." || piece.size() > 255)
        << Hex(name) << " -> " << path;
  }
}

TEST(ObjectPath, IsReversibleInjectiveAndNeverLeavesTheBucket) {
  Random random(20240607);
  std::map<std::string, std::string> owner;  // of each path
  for (int i = 0; i < 20000; ++i) {
    const std::string name = i % 3 == 0 ? AnyBytes(random) : NastyName(random);
    for (const std::string& path : {PlainPath(name), BesidePath(name)}) {
      ExpectStaysInside(path, name);
      ASSERT_EQ(NameOfPath(path), name) << Hex(name) << " -> " << path;
      const auto [at, fresh] = owner.emplace(path, name);
      ASSERT_EQ(at->second, name) << path;
    }
    ASSERT_NE(PlainPath(name), BesidePath(name));
  }
}

TEST(ObjectPath, HoldsTheLongestNames) {
  for (const std::string& unit :
       {std::string("/"), std::string("\x01"), std::string("./"), std::string("../"),
        std::string("%~"), std::string("x"), std::string("\xe2\x82\xac")}) {
    std::string name;
    while (name.size() + unit.size() <= 1024) name += unit;
    ExpectStaysInside(PlainPath(name), name);
    ExpectStaysInside(BesidePath(name), name);
    EXPECT_EQ(NameOfPath(PlainPath(name)), name);
  }
}

// No two objects may be in each other's way: one's file where the other needs a directory, unless
// the names themselves are so ("a" and "a/b"), which the beside place is for.
TEST(ObjectPath, PutsNoFileWhereAnotherObjectNeedsADirectory) {
  Random random(7);
  std::set<std::string> names;
  for (int i = 0; i < 5000; ++i) names.insert(NastyName(random));
  std::set<std::string> directories;
  for (const std::string& name : names) {
    for (std::string path = PlainPath(name); path.find('/') != std::string::npos;) {
      path.resize(path.rfind('/'));
      directories.insert(path);
    }
  }
  for (const std::string& name : names) EXPECT_FALSE(directories.count(BesidePath(name))) << name;
}

}  // namespace
}  // namespace caip::gcs
