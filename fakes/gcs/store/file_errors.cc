#include "fakes/gcs/store/file_errors.h"

#include <cstring>

#include "base/quoting.h"

namespace caip::gcs::errors {

Error NoOpenat2(int error_number) {
  return {Code::kUnimplemented,
          std::string("Storage needs the system call openat2, with which no path leads out of the "
                      "buckets, and it fails here: ") +
              std::strerror(error_number) +
              ". Use Linux 5.6 or later, and in a container a seccomp profile that allows it."};
}

Error CannotOpenBucket(std::string_view bucket, int error_number) {
  return SystemError("cannot open bucket " + Quoted(bucket), error_number);
}

Error CannotListBuckets(int error_number) {
  return SystemError("cannot list the buckets", error_number);
}

Error CannotMakeBucket(std::string_view bucket, int error_number) {
  return SystemError("cannot make bucket " + Quoted(bucket), error_number);
}

Error CannotRemoveBucket(std::string_view bucket, int error_number) {
  return SystemError("cannot remove bucket " + Quoted(bucket), error_number);
}

Error CannotSyncBucket(int error_number) {
  return SystemError("cannot sync a bucket's directory", error_number);
}

Error CannotSyncBuckets(int error_number) {
  return SystemError("cannot sync the buckets' directory", error_number);
}

Error CannotSyncVersions(std::string_view bucket, int error_number) {
  return SystemError("cannot sync the versions of bucket " + Quoted(bucket), error_number);
}

Error CannotOpenObject(std::string_view object, int error_number) {
  return SystemError("cannot open object " + Quoted(object), error_number);
}

Error CannotReadObject(std::string_view object, int error_number) {
  return SystemError("cannot read object " + Quoted(object), error_number);
}

Error CannotReadObjectFile(int error_number) {
  return SystemError("cannot read an object's file", error_number);
}

Error CannotBeginObject(std::string_view object, int error_number) {
  return SystemError("cannot begin object " + Quoted(object), error_number);
}

Error CannotContinueObject(std::string_view object, int error_number) {
  return SystemError("cannot continue object " + Quoted(object), error_number);
}

Error CannotWriteObject(std::string_view object, int error_number) {
  return SystemError("cannot write object " + Quoted(object), error_number);
}

Error CannotSyncObject(std::string_view object, int error_number) {
  return SystemError("cannot sync object " + Quoted(object), error_number);
}

Error CannotPlaceObject(std::string_view object, int error_number) {
  return SystemError("cannot put object " + Quoted(object) + " in its place", error_number);
}

Error NewFileRemoved(std::string_view object) {
  return {Code::kUnavailable, "The file of the new object " + Quoted(object) +
                                  " was removed before it had its name. Send the object again."};
}

Error CannotLookAtObject(std::string_view object, int error_number) {
  return SystemError("cannot look at object " + Quoted(object), error_number);
}

Error CannotMoveObject(std::string_view object, int error_number) {
  return SystemError("cannot move object " + Quoted(object), error_number);
}

Error CannotDeleteObject(std::string_view object, int error_number) {
  return SystemError("cannot delete object " + Quoted(object), error_number);
}

Error CannotKeepVersion(std::string_view object, int error_number) {
  return SystemError("cannot keep a version of object " + Quoted(object), error_number);
}

Error CannotMakeDirectoryOf(std::string_view object, int error_number) {
  return SystemError("cannot make a directory for object " + Quoted(object), error_number);
}

Error CannotOpenDirectoryOf(std::string_view object, int error_number) {
  return SystemError("cannot open the directory of object " + Quoted(object), error_number);
}

Error CannotMakeRoomFor(std::string_view object, int error_number) {
  return SystemError("cannot make room for object " + Quoted(object), error_number);
}

Error CannotKeepPart(int error_number) { return SystemError("cannot keep a part", error_number); }

Error CannotWritePart(int error_number) { return SystemError("cannot write a part", error_number); }

Error CannotReadPart(int error_number) { return SystemError("cannot read a part", error_number); }

}  // namespace caip::gcs::errors
