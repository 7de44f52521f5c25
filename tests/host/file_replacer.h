#pragma once
// Replaces a file all the time, as other programs of the host may.

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "base/files.h"

namespace caip::host {

/// Replaces the file by a new one with the same text (rename over it), until it is destroyed.
class FileReplacer {
 public:
  FileReplacer(Path file, std::string text) : file_(std::move(file)), text_(std::move(text)) {
    Replace();
    thread_ = std::thread([this] {
      while (!is_over_) Replace();
    });
  }
  FileReplacer(const FileReplacer&) = delete;
  FileReplacer& operator=(const FileReplacer&) = delete;
  ~FileReplacer() {
    is_over_ = true;
    thread_.join();
  }

 private:
  // Does not sync the disk, which takes long.
  void Replace() {
    const Path next = file_.string() + ".new";
    std::FILE* written = std::fopen(next.c_str(), "w");
    if (!written) return;
    std::fputs(text_.c_str(), written);
    std::fclose(written);
    std::error_code error;
    std::filesystem::rename(next, file_, error);
  }

  const Path file_;
  const std::string text_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace caip::host
