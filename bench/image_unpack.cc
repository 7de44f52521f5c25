// Compares unpacking a layer into the image store with `tar -x` of the same archive in the same
// run. The store also verifies the digest and syncs the files; `tar -x && sync` shows what that
// costs. The processor time, of all threads and of gzip, depends less on what else the host does.
// Arguments: the size in MiB (default 64), and the number of rounds (default 3). Goal: a ratio of
// at least 0.7 of `tar -x`, with 1024 MiB. A third argument is a number of empty files, which the
// layer has instead, such as 1000000. Then the removal of the layer is measured, too.

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "images/blob_store.h"
#include "images/layer_store.h"

namespace caip::images {
namespace {

double ProcessorSeconds() {
  double seconds = 0;
  for (const __rusage_who who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    seconds += static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  }
  return seconds;
}

// In KiB, without that of tar and gzip.
long PeakMemory() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Times {
  std::vector<double> elapsed;
  std::vector<double> processor;

  void Add(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    const double used = ProcessorSeconds();
    work();
    const auto end = std::chrono::steady_clock::now();
    elapsed.push_back(std::chrono::duration<double>(end - begin).count());
    processor.push_back(ProcessorSeconds() - used);
  }
};

void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "bench_image_unpack: %s\n", what.c_str());
  std::exit(1);
}

void Run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  int status = -1;
  Require(::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) == 0, words[0]);
  ::waitpid(pid, &status, 0);
  Require(status == 0, words[0] + " failed");
}

// Texts of a thousand words compress about as well as the files of an image.
std::string FileText(Random& random, size_t size) {
  static const std::vector<std::string> words = [] {
    Random source(7);
    std::vector<std::string> made;
    for (int i = 0; i < 1000; ++i) made.push_back(source.Hex(2 + static_cast<int>(i % 9)) + " ");
    return made;
  }();
  std::string text;
  text.reserve(size + 16);
  while (text.size() < size) text += words[random.Below(words.size())];
  text.resize(size);
  return text;
}

// Sizes of files as in images with Python: nine in ten are small, and most bytes are in large ones.
size_t FileSize(Random& random) {
  const uint64_t kind = random.Below(100);
  if (kind < 90) return 200 + random.Below(16'000);
  if (kind < 99) return 20'000 + random.Below(300'000);
  return 1'000'000 + random.Below(20'000'000);
}

/// A layer to make: so many bytes in files of usual sizes, or so many empty files.
struct LayerPlan {
  size_t bytes = 0;
  size_t empty_files = 0;

  bool IsMade(size_t files, size_t written) const {
    return empty_files > 0 ? files == empty_files : written >= bytes;
  }
  size_t NextSize(Random& random, size_t written) const {
    return empty_files > 0 ? 0 : std::min(FileSize(random), bytes - written);
  }
};

void MakeArchive(const Path& path, const LayerPlan& plan, bool compressed) {
  Random random(1);
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  if (compressed) archive_write_add_filter_gzip(writer);
  Require(archive_write_open_filename(writer, path.c_str()) == ARCHIVE_OK, path.string());
  archive_entry* entry = archive_entry_new();
  size_t files = 0;
  size_t written = 0;
  for (; !plan.IsMade(files, written); ++files) {
    const std::string text = FileText(random, plan.NextSize(random, written));
    const std::string name =
        "usr/lib/d" + std::to_string(files / 30) + "/f" + std::to_string(files);
    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    archive_entry_set_mtime(entry, 1'600'000'000, 0);
    archive_write_header(writer, entry);
    archive_write_data(writer, text.data(), text.size());
    written += text.size();
  }
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  std::printf("%zu files, %zu MiB\n", files, written >> 20);
}

Digest StoreBlob(BlobStore& blobs, const Path& path, const char* id) {
  BlobUpload upload = *blobs.Begin(id);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string block(1 << 20, '\0');
  ssize_t count = 0;
  while ((count = ::read(file.get(), block.data(), block.size())) > 0) {
    Require(upload.Append({block.data(), static_cast<size_t>(count)}).ok(), "cannot write a blob");
  }
  return *upload.FinishAny();
}

void Compare(const Path& work, const LayerPlan& plan, int rounds, bool compressed) {
  const Path archive_file = work / "layer.tar";
  MakeArchive(archive_file, plan, compressed);
  const auto blobs = *BlobStore::Open(work);
  const Digest blob = StoreBlob(*blobs, archive_file, "bench");
  Digest diff_id = blob;
  if (compressed) {
    Run({"sh", "-c", "gzip -dc " + archive_file.string() + " > " + archive_file.string() + ".raw"});
    diff_id = StoreBlob(*blobs, archive_file.string() + ".raw", "raw");
  }
  Times ours;
  Times plain;
  Times synced;
  Times removed;
  for (int round = 0; round < rounds; ++round) {
    const std::string target = (work / "tar").string();
    ::sync();
    plain.Add([&] {
      Run({"sh", "-c",
           "mkdir " + target + " && tar -x -f " + archive_file.string() + " -C " + target});
    });
    RemoveTree(target);
    ::sync();
    synced.Add([&] {
      Run({"sh", "-c",
           "mkdir " + target + " && tar -x -f " + archive_file.string() + " -C " + target +
               " && sync -f " + target});
    });
    RemoveTree(target);
    ::sync();
    const auto layers = *LayerStore::Open(work / "layers");
    ours.Add([&] {
      const auto layer = layers->Unpack(*blobs, blob, diff_id);
      Require(layer.ok(), layer.ok() ? "" : layer.error().message);
    });
    removed.Add([&] { Require(layers->RemoveOthers({}).ok(), "cannot remove the layer"); });
  }
  const auto [fastest, slowest] = std::minmax_element(ours.elapsed.begin(), ours.elapsed.end());
  std::printf("%-12s unpack %.2f s (from %.2f to %.2f), tar -x %.2f s, tar -x and sync %.2f s\n",
              compressed ? "gzip" : "uncompressed", Median(ours.elapsed), *fastest, *slowest,
              Median(plain.elapsed), Median(synced.elapsed));
  std::printf("%-12s of tar -x: %.2f (goal 0.70), of tar -x and sync: %.2f\n", "",
              Median(plain.elapsed) / Median(ours.elapsed),
              Median(synced.elapsed) / Median(ours.elapsed));
  std::printf("%-12s processor time: unpack %.2f s, tar -x %.2f s, tar -x and sync %.2f s\n", "",
              Median(ours.processor), Median(plain.processor), Median(synced.processor));
  std::printf("%-12s removal %.2f s; the largest memory of this process so far: %ld MiB\n", "",
              Median(removed.elapsed), PeakMemory() >> 10);
  RemoveTree(work / "blobs");
  std::filesystem::remove(archive_file);
  std::filesystem::remove(archive_file.string() + ".raw");
}

}  // namespace
}  // namespace caip::images

int main(int argc, char** argv) {
  const size_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const size_t empty_files = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const caip::TemporaryDirectory work("caip-bench-");
  for (const bool compressed : {false, true}) {
    caip::images::Compare(work.path(), {mebibytes << 20, empty_files}, rounds, compressed);
  }
}
