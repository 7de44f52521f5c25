#include "fakes/metadata/service_account_key.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "base/encoding.h"
#include "fakes/metadata/errors.h"

namespace caip::metadata {
namespace {

constexpr char kFileName[] = "service-account.pem";
constexpr int kKeyBits = 2048;
constexpr long kCertificateDays = 3650;
constexpr size_t kFileBytesMax = 64 << 10;

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

std::string ReadBio(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string PrivatePem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return ReadBio(bio.get());
}

std::string CertificatePem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(bio.get(), certificate);
  return ReadBio(bio.get());
}

// A client that verifies a token reads only the certificate's key and dates.
Certificate MakeSelfSigned(EVP_PKEY* key, Instant now) {
  Certificate certificate(X509_new(), X509_free);
  const time_t from = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), from);
  ASN1_TIME_adj(X509_getm_notAfter(certificate.get()), from, kCertificateDays, 0);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("caip service accounts"), -1,
                             -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

std::string ComputeKeyId(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(der, static_cast<size_t>(size), digest, &length, EVP_sha1(), nullptr);
  OPENSSL_free(der);
  return Hex({reinterpret_cast<const char*>(digest), length});
}

std::string ReadKeyNumber(EVP_PKEY* key, const char* parameter) {
  BIGNUM* number = nullptr;
  EVP_PKEY_get_bn_param(key, parameter, &number);
  std::string bytes(static_cast<size_t>(BN_num_bytes(number)), '\0');
  BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
  BN_free(number);
  return bytes;
}

}  // namespace

// link() decides which process is first.
Status WriteKeyIfAbsent(const Path& file, std::string_view text) {
  static std::atomic<unsigned> drafts{0};
  const Path draft =
      file.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(drafts++);
  {
    const Fd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd.valid()) return CannotWrite(draft, errno);
    if (!WriteAll(fd.get(), text) || ::fsync(fd.get()) != 0) {
      const int error = errno;
      ::unlink(draft.c_str());
      return CannotWrite(draft, error);
    }
  }
  const int linked = ::link(draft.c_str(), file.c_str());
  const int error = errno;
  ::unlink(draft.c_str());
  if (linked != 0 && error != EEXIST) {
    return CannotMake(file, error);
  }
  return SyncDirectory(file.parent_path());
}

Result<ServiceAccountKey> ServiceAccountKey::Open(const Path& directory, Instant now) {
  const Path file = directory / kFileName;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    RETURN_IF_ERROR(MakeDirectories(directory));
    ::chmod(directory.c_str(), 0700);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> made(EVP_RSA_gen(kKeyBits),
                                                                   EVP_PKEY_free);
    if (!made) return errors::KeyNotCreated(file.string(), "OpenSSL failed");
    RETURN_IF_ERROR(WriteKeyIfAbsent(
        file, PrivatePem(made.get()) + CertificatePem(MakeSelfSigned(made.get(), now).get())));
  }
  ASSIGN_OR_RETURN(const std::string pem, ReadFileUpTo(file, kFileBytesMax));
  ASSIGN_OR_RETURN(ServiceAccountKey key, Parse(pem, file));
  if (key.certificate_pem_.empty()) RETURN_IF_ERROR(key.AddCertificate(file, now));
  return key;
}

Result<ServiceAccountKey> ServiceAccountKey::Parse(const std::string& pem, const Path& file) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  ServiceAccountKey key;
  key.key_ = {PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  const Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  if (!key.key_ || EVP_PKEY_get_base_id(key.key_.get()) != EVP_PKEY_RSA) {
    return errors::KeyUnreadable(file.string());
  }
  key.id_ = ComputeKeyId(key.key_.get());
  key.private_pem_ = PrivatePem(key.key_.get());
  if (certificate) key.certificate_pem_ = CertificatePem(certificate.get());
  return key;
}

Status ServiceAccountKey::AddCertificate(const Path& file, Instant now) {
  certificate_pem_ = CertificatePem(MakeSelfSigned(key_.get(), now).get());
  return WriteFileDurably(file, private_pem_ + certificate_pem_, 0600);
}

std::string ServiceAccountKey::Sign(std::string_view bytes) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t size = 0;
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
  EVP_DigestSign(context.get(), nullptr, &size, data, bytes.size());
  std::string signature(size, '\0');
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                 bytes.size());
  signature.resize(size);
  return signature;
}

bool ServiceAccountKey::Verifies(std::string_view bytes, std::string_view signature) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                          bytes.size()) == 1;
}

std::string ServiceAccountKey::Modulus() const {
  return ReadKeyNumber(key_.get(), OSSL_PKEY_PARAM_RSA_N);
}

std::string ServiceAccountKey::Exponent() const {
  return ReadKeyNumber(key_.get(), OSSL_PKEY_PARAM_RSA_E);
}

}  // namespace caip::metadata
