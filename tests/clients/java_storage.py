"""com.google.cloud:google-cloud-storage (JSON) with the host set by StorageOptions."""

import gzip

import support
import toolchains

ARTIFACT = 'com.google.cloud:google-cloud-storage:2.70.0'
SOURCE = r'''
import com.google.cloud.NoCredentials;
import com.google.cloud.ReadChannel;
import com.google.cloud.WriteChannel;
import com.google.cloud.storage.*;
import com.google.cloud.storage.Storage.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

public class Main {
  static Storage storage;
  static String bucket;

  static void same(String what, Object got, Object want) {
    if (!Objects.deepEquals(got, want)) {
      throw new AssertionError(what + ": got " + got + ", want " + want);
    }
  }

  interface Action { void run() throws Exception; }

  static void fails(String what, int code, Action action) throws Exception {
    try {
      action.run();
    } catch (StorageException e) {
      same(what, e.getCode(), code);
      return;
    }
    throw new AssertionError(what + " passed");
  }

  static BlobInfo.Builder info(String name) { return BlobInfo.newBuilder(bucket, name); }

  static byte[] bytes(int size) {
    byte[] data = new byte[size];
    new Random(size).nextBytes(data);
    return data;
  }

  static byte[] text(String text) { return text.getBytes(StandardCharsets.UTF_8); }

  static void transfers() throws Exception {
    byte[] data = bytes(3 * 1024 * 1024 + 11);
    Blob blob = storage.create(info("a b+c#%?/ü").setContentType("text/csv")
        .setMetadata(Map.of("k", "v")).build(), data);
    same("size", blob.getSize(), (long) data.length);
    same("metadata", storage.get(blob.getBlobId()).getMetadata(), Map.of("k", "v"));
    same("content", storage.readAllBytes(blob.getBlobId()), data);
    try (WriteChannel out = storage.writer(info("chunks").build())) {
      out.setChunkSize(512 * 1024);
      ByteBuffer buffer = ByteBuffer.wrap(data);
      while (buffer.hasRemaining()) out.write(buffer);
    }
    same("chunks", storage.readAllBytes(BlobId.of(bucket, "chunks")), data);
    Path file = Files.createTempFile("java", ".bin");
    Files.write(file, data);
    storage.createFrom(info("file").build(), file);
    storage.downloadTo(BlobId.of(bucket, "file"), file);
    same("file", Files.readAllBytes(file), data);
    Files.delete(file);
    storage.create(info("digits").build(), text("0123456789"));
    try (ReadChannel in = storage.reader(BlobId.of(bucket, "digits"))) {
      in.seek(2);
      in.limit(5);
      ByteBuffer buffer = ByteBuffer.allocate(10);
      while (in.read(buffer) > 0) {}
      same("range", new String(buffer.array(), 0, buffer.position()), "234");
    }
    storage.create(info("empty").build());
    same("empty", storage.readAllBytes(BlobId.of(bucket, "empty")).length, 0);
    byte[] stored = Files.readAllBytes(Paths.get(System.getProperty("gz")));
    storage.create(info("z").setContentEncoding("gzip").setContentType("text/plain").build(), stored);
    same("transcoded", new String(storage.get(bucket, "z").getContent()), "text text text");
    same("raw", storage.get(bucket, "z").getContent(Blob.BlobSourceOption.shouldReturnRawInputStream(true)), stored);
    fails("none", 404, () -> storage.readAllBytes(BlobId.of(bucket, "none")));
    fails("wrong sum", 400, () -> {
      BlobInfo wrong = info("wrong").setMd5("AAAAAAAAAAAAAAAAAAAAAA==").build();
      try (WriteChannel out = storage.writer(wrong, BlobWriteOption.md5Match())) {
        out.write(ByteBuffer.wrap(text("x")));
      }
    });
    same("wrong sum", storage.get(bucket, "wrong"), null);
  }

  static List<String> names(BlobListOption... options) {
    return StreamSupport.stream(storage.list(bucket, options).iterateAll().spliterator(), false)
        .map(Blob::getName).collect(Collectors.toList());
  }

  static void lists() throws Exception {
    for (String name : List.of("a", "d/1", "d/2", "d/e/3", "d/e/4.txt")) {
      storage.create(info(name).build(), text(name));
    }
    same("all", names(BlobListOption.pageSize(2)), List.of("a", "d/1", "d/2", "d/e/3", "d/e/4.txt"));
    same("folder", names(BlobListOption.prefix("d/"), BlobListOption.currentDirectory()),
        List.of("d/1", "d/2", "d/e/"));
    same("glob", names(BlobListOption.matchGlob("**.txt")), List.of("d/e/4.txt"));
    same("offsets", names(BlobListOption.startOffset("d/2"), BlobListOption.endOffset("d/e/4")),
        List.of("d/2", "d/e/3"));
    same("fields", names(BlobListOption.fields(BlobField.NAME), BlobListOption.prefix("a")), List.of("a"));
    StorageBatch batch = storage.batch();
    StorageBatchResult<Boolean> gone = batch.delete(bucket, "d/1");
    StorageBatchResult<Boolean> none = batch.delete(bucket, "none");
    StorageBatchResult<Blob> got = batch.get(bucket, "d/2");
    batch.submit();
    same("batch", List.of(gone.get(), none.get(), got.get().getSize()), List.of(true, false, 3L));
    same("delete", storage.delete(List.of(BlobId.of(bucket, "d/2"), BlobId.of(bucket, "no"))),
        List.of(true, false));
  }

  static void changes() throws Exception {
    for (String name : List.of("1", "2")) storage.create(info(name).build(), text(name));
    Blob both = storage.compose(ComposeRequest.newBuilder().addSource("1", "2")
        .setTarget(info("both").setContentType("a/b").build()).build());
    same("composed", new String(both.getContent()), "12");
    CopyWriter copy = storage.copy(CopyRequest.newBuilder().setSource(both.getBlobId())
        .setTarget(info("copy").setMetadata(Map.of("new", "1")).build()).build());
    same("copied", new String(copy.getResult().getContent()), "12");
    Blob blob = storage.get(bucket, "copy");
    Blob changed = storage.update(blob.toBuilder().setContentType("x/y").build(),
        BlobTargetOption.metagenerationMatch());
    same("type", changed.getContentType(), "x/y");
    same("metageneration", changed.getMetageneration(), blob.getMetageneration() + 1);
    fails("update twice", 412, () -> storage.update(blob.toBuilder().setContentType("z").build(),
        BlobTargetOption.metagenerationMatch()));
    fails("write over", 412, () -> storage.create(info("1").build(), text("x"),
        BlobTargetOption.doesNotExist()));
    fails("delete another", 412, () -> storage.delete(BlobId.of(bucket, "1"),
        BlobSourceOption.generationMatch(1)));
    same("delete", storage.delete(BlobId.of(bucket, "1")), true);
    same("delete twice", storage.delete(BlobId.of(bucket, "1")), false);
  }

  static void buckets() throws Exception {
    storage.update(BucketInfo.newBuilder(bucket).setVersioningEnabled(true)
        .setLabels(Map.of("team", "a")).build());
    Bucket found = storage.get(bucket);
    same("settings", List.of(found.versioningEnabled(), found.getLabels().get("team"), found.getLocation()),
        List.of(true, "a", "EUROPE-WEST1"));
    Blob first = storage.create(info("v").build(), text("1"));
    storage.create(info("v").build(), text("2"));
    same("old", new String(storage.readAllBytes(first.getBlobId())), "1");
    same("versions", names(BlobListOption.versions(true)).size(), 2);
    fails("again", 409, () -> storage.create(BucketInfo.of(bucket)));
    fails("not empty", 409, () -> storage.delete(bucket));
    for (Blob blob : storage.list(bucket, BlobListOption.versions(true)).iterateAll()) {
      storage.delete(blob.getBlobId());
    }
    same("deleted", storage.delete(bucket), true);
    same("gone", storage.get(bucket), null);
  }

  public static void main(String[] arguments) throws Exception {
    storage = StorageOptions.newBuilder().setHost(arguments[0]).setProjectId("demo-project")
        .setCredentials(NoCredentials.getInstance()).build().getService();
    bucket = "java-" + arguments[1];
    storage.create(BucketInfo.newBuilder(bucket).setLocation("EUROPE-WEST1").build());
    switch (arguments[1]) {
      case "transfers": transfers(); break;
      case "lists": lists(); break;
      case "changes": changes(); break;
      case "buckets": buckets(); break;
      default: throw new AssertionError("no such part");
    }
    System.out.println("done");
  }
}
'''


class JavaStorage(support.EmulatorTest):
    """One program; each test runs a part of it."""

    @classmethod
    def setUpClass(cls):
        cls.words = toolchains.java_program('storage', SOURCE, ARTIFACT)
        super().setUpClass()

    def part(self, name):
        zipped = self.emulator.directory / 'text.gz'
        zipped.write_bytes(gzip.compress(b'text text text'))
        words = [self.words[0], f'-Dgz={zipped}', *self.words[1:], self.emulator.url, name]
        self.assertIn('done\n', support.run(words, env=self.emulator.env, timeout=180).stdout)

    def test_channels_files_and_ranges(self):
        self.part('transfers')

    def test_lists_and_batches(self):
        self.part('lists')

    def test_composition_copies_and_conditions(self):
        self.part('changes')

    def test_buckets_and_versions(self):
        self.part('buckets')


if __name__ == '__main__':
    support.main()
