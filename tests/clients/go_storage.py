"""cloud.google.com/go/storage with STORAGE_EMULATOR_HOST: uploads, ranges, lists, conditions."""

import support
import toolchains

MODULE = 'cloud.google.com/go/storage@v1.70.0'
SOURCE = r'''
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"net/http"
	"os"
	"reflect"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func same(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("%s: got %#v, want %#v", what, got, want))
	}
}

func status(err error) int {
	var failure *googleapi.Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return 0
}

func put(object *storage.ObjectHandle, data []byte, chunk int) *storage.Writer {
	writer := object.NewWriter(ctx)
	writer.ChunkSize = chunk
	writer.ContentType = "text/csv"
	writer.Metadata = map[string]string{"k": "v"}
	_, err := writer.Write(data)
	check(err)
	check(writer.Close())
	return writer
}

func get(object *storage.ObjectHandle, offset, length int64) []byte {
	reader, err := object.NewRangeReader(ctx, offset, length)
	check(err)
	defer reader.Close()
	data, err := io.ReadAll(reader)
	check(err)
	return data
}

func bytesOf(size int) []byte {
	data := make([]byte, size)
	rand.New(rand.NewSource(int64(size))).Read(data)
	return data
}

func names(bucket *storage.BucketHandle, query *storage.Query) (list []string) {
	objects := bucket.Objects(ctx, query)
	for {
		attrs, err := objects.Next()
		if err == iterator.Done {
			return list
		}
		check(err)
		list = append(list, attrs.Name+attrs.Prefix)
	}
}

func transfers(bucket *storage.BucketHandle) {
	data := bytesOf(3<<20 + 17)
	for _, chunk := range []int{0, 256 << 10, 16 << 20} {
		object := bucket.Object(fmt.Sprintf("a b+c#%%?/ü-%d", chunk))
		attrs := put(object, data, chunk).Attrs()
		same("size", attrs.Size, int64(len(data)))
		same("crc32c", attrs.CRC32C, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
		same("metadata", attrs.Metadata, map[string]string{"k": "v"})
		same("content", bytes.Equal(get(object, 0, -1), data), true)
	}
	object := bucket.Object("digits")
	put(object, []byte("0123456789"), 0)
	same("range", string(get(object, 2, 3)), "234")
	same("tail", string(get(object, -3, -1)), "789")
	_, err := object.NewRangeReader(ctx, 100, 1)
	same("past the end", status(err), 416)
	_, err = bucket.Object("none").NewReader(ctx)
	same("none", errors.Is(err, storage.ErrObjectNotExist), true)
	writer := bucket.Object("sum").NewWriter(ctx)
	writer.CRC32C, writer.SendCRC32C = 1, true
	writer.Write([]byte("x"))
	same("wrong sum", status(writer.Close()), 400)
	canceled, cancel := context.WithCancel(ctx)
	writer = bucket.Object("canceled").NewWriter(canceled)
	writer.Write([]byte("x"))
	cancel()
	same("canceled", writer.Close() != nil, true)
	_, err = bucket.Object("canceled").Attrs(ctx)
	same("canceled", errors.Is(err, storage.ErrObjectNotExist), true)
}

func lists(bucket *storage.BucketHandle) {
	for _, name := range []string{"l/1", "l/2", "l/d/3", "l/d/4.txt", "m"} {
		put(bucket.Object(name), nil, 0)
	}
	same("all", names(bucket, &storage.Query{Prefix: "l/"}), []string{"l/1", "l/2", "l/d/3", "l/d/4.txt"})
	same("delimiter", names(bucket, &storage.Query{Prefix: "l/", Delimiter: "/"}), []string{"l/1", "l/2", "l/d/"})
	same("offsets", names(bucket, &storage.Query{StartOffset: "l/2", EndOffset: "m"}), []string{"l/2", "l/d/3", "l/d/4.txt"})
	same("glob", names(bucket, &storage.Query{MatchGlob: "**.txt"}), []string{"l/d/4.txt"})
	pager := iterator.NewPager(bucket.Objects(ctx, &storage.Query{Prefix: "l/"}), 3, "")
	var page []*storage.ObjectAttrs
	token, err := pager.NextPage(&page)
	check(err)
	same("page", len(page), 3)
	same("more", token != "", true)
	query := &storage.Query{Prefix: "l/1"}
	check(query.SetAttrSelection([]string{"Name"}))
	same("selection", names(bucket, query), []string{"l/1"})
}

func changes(bucket *storage.BucketHandle) {
	one, two := bucket.Object("one"), bucket.Object("two")
	put(one, []byte("1"), 0)
	put(two, []byte("2"), 0)
	composer := bucket.Object("both").ComposerFrom(one, two, one)
	composer.ContentType = "a/b"
	attrs, err := composer.Run(ctx)
	check(err)
	same("composed", string(get(bucket.Object("both"), 0, -1)), "121")
	same("components", attrs.ComponentCount, int64(3))
	copier := bucket.Object("copy").CopierFrom(bucket.Object("both"))
	copier.Metadata = map[string]string{"new": "1"}
	attrs, err = copier.Run(ctx)
	check(err)
	same("copied", attrs.Metadata, map[string]string{"new": "1"})
	same("copied", string(get(bucket.Object("copy"), 0, -1)), "121")

	attrs, err = one.Attrs(ctx)
	check(err)
	update := storage.ObjectAttrsToUpdate{ContentType: "x/y", Metadata: map[string]string{"k": "w"}}
	match := one.If(storage.Conditions{MetagenerationMatch: attrs.Metageneration})
	changed, err := match.Update(ctx, update)
	check(err)
	same("type", changed.ContentType, "x/y")
	same("metageneration", changed.Metageneration, attrs.Metageneration+1)
	_, err = match.Update(ctx, update)
	same("update twice", status(err), http.StatusPreconditionFailed)
	writer := one.If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
	writer.Write([]byte("x"))
	same("write over", status(writer.Close()), http.StatusPreconditionFailed)
	err = one.If(storage.Conditions{GenerationMatch: attrs.Generation + 1}).Delete(ctx)
	same("delete another", status(err), http.StatusPreconditionFailed)
	check(one.If(storage.Conditions{GenerationMatch: attrs.Generation}).Delete(ctx))
	same("delete twice", errors.Is(one.Delete(ctx), storage.ErrObjectNotExist), true)
}

func buckets(client *storage.Client, bucket *storage.BucketHandle) {
	_, err := bucket.Update(ctx, storage.BucketAttrsToUpdate{VersioningEnabled: true})
	check(err)
	v := bucket.Object("v")
	first := put(v, []byte("1"), 0).Attrs().Generation
	put(v, []byte("2"), 0)
	same("old", string(get(v.Generation(first), 0, -1)), "1")
	same("versions", len(names(bucket, &storage.Query{Prefix: "v", Versions: true})), 2)
	_, err = client.Bucket("no-such-bucket").Attrs(ctx)
	same("no bucket", errors.Is(err, storage.ErrBucketNotExist), true)
	same("again", status(bucket.Create(ctx, "demo-project", nil)), http.StatusConflict)
	same("not empty", status(bucket.Delete(ctx)), http.StatusConflict)
	for _, name := range names(bucket, &storage.Query{Versions: true}) {
		object := bucket.Object(name)
		for _, version := range generations(bucket, name) {
			check(object.Generation(version).Delete(ctx))
		}
	}
	check(bucket.Delete(ctx))
}

func generations(bucket *storage.BucketHandle, name string) (list []int64) {
	objects := bucket.Objects(ctx, &storage.Query{Prefix: name, Versions: true})
	for {
		attrs, err := objects.Next()
		if err == iterator.Done {
			return list
		}
		check(err)
		if attrs.Name == name {
			list = append(list, attrs.Generation)
		}
	}
}

func main() {
	client, err := storage.NewClient(ctx)
	check(err)
	bucket := client.Bucket("go-" + os.Args[1])
	check(bucket.Create(ctx, "demo-project", &storage.BucketAttrs{Location: "EUROPE-WEST1"}))
	attrs, err := bucket.Attrs(ctx)
	check(err)
	same("location", attrs.Location, "EUROPE-WEST1")
	switch os.Args[1] {
	case "transfers":
		transfers(bucket)
	case "lists":
		lists(bucket)
	case "changes":
		changes(bucket)
	case "buckets":
		buckets(client, bucket)
	default:
		panic("no such part")
	}
}
'''


class GoStorage(support.EmulatorTest):
    """One compiled program; each test runs a part of it."""

    @classmethod
    def setUpClass(cls):
        cls.program = toolchains.go_program('storage', SOURCE, MODULE)
        super().setUpClass()

    def part(self, name):
        support.run([self.program, name], env=self.emulator.env, timeout=120)

    def test_writers_and_readers(self):
        self.part('transfers')

    def test_iterators(self):
        self.part('lists')

    def test_composers_copiers_and_conditional_updates(self):
        self.part('changes')

    def test_buckets_and_versions(self):
        self.part('buckets')


if __name__ == '__main__':
    support.main()
