"""@google-cloud/storage for Node, with apiEndpoint and with STORAGE_EMULATOR_HOST."""

import tempfile

import support

SOURCE = r'''
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const {pipeline} = require('node:stream/promises');
const {Readable} = require('node:stream');
const {Storage} = require('@google-cloud/storage');

const [part, endpoint, work] = process.argv.slice(2);
const options = {projectId: 'demo-project', retryOptions: {autoRetry: false}};
if (endpoint !== '-') Object.assign(options, {apiEndpoint: endpoint, useAuthWithCustomEndpoint: false});
const storage = new Storage(options);

async function read(file, options) {
  const pieces = [];
  for await (const piece of file.createReadStream(options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function fails(promise, code) {
  await assert.rejects(promise, error => { assert.equal(error.code ?? error.status, code, error); return true; });
}

const parts = {
  async transfers(bucket) {
    const data = crypto.randomBytes(3 * 2 ** 20 + 7);
    const local = path.join(work, 'local.bin');
    fs.writeFileSync(local, data);
    for (const resumable of [true, false]) {
      const destination = `a b+c#%?/ü-${resumable}`;
      const [file] = await bucket.upload(local, {destination, resumable, validation: 'crc32c',
        metadata: {contentType: 'text/csv', metadata: {k: 'v'}}});
      const [metadata] = await file.getMetadata();
      assert.equal(Number(metadata.size), data.length);
      assert.equal(metadata.contentType, 'text/csv');
      assert.deepEqual(metadata.metadata, {k: 'v'});
      assert.equal(metadata.md5Hash, crypto.createHash('md5').update(data).digest('base64'));
      const [down] = await file.download();
      assert.ok(down.equals(data));
      await file.download({destination: path.join(work, 'down')});
      assert.ok(fs.readFileSync(path.join(work, 'down')).equals(data));
    }
    const file = bucket.file('stream');
    await pipeline(Readable.from([data.subarray(0, 70001), data.subarray(70001)]), file.createWriteStream());
    assert.ok((await read(file)).equals(data));
    assert.ok((await read(file, {start: 5, end: 9})).equals(data.subarray(5, 10)));
    const chunked = bucket.file('chunked');
    await pipeline(Readable.from([data]), chunked.createWriteStream({chunkSize: 512 * 1024}));
    assert.ok((await read(chunked)).equals(data));
    await bucket.file('empty').save('');
    assert.equal((await bucket.file('empty').download())[0].length, 0);
    const plain = 'text '.repeat(10000);
    await bucket.file('z').save(plain, {gzip: true, contentType: 'text/plain'});
    const [metadata] = await bucket.file('z').getMetadata();
    assert.equal(metadata.contentEncoding, 'gzip');
    assert.ok(Number(metadata.size) < 10000);
    assert.equal((await bucket.file('z').download())[0].toString(), plain);
    await fails(bucket.file('none').download(), 404);
    await fails(storage.bucket('no-such-bucket').file('a').save('x'), 404);
  },

  async lists(bucket) {
    const all = ['a', 'd/1', 'd/2', 'd/e/3', 'd/e/4.txt'];
    for (const name of all) await bucket.file(name).save(name, {resumable: false});
    const names = files => files.map(file => file.name);
    assert.deepEqual(names((await bucket.getFiles())[0]), all);
    assert.deepEqual(names((await bucket.getFiles({maxResults: 2}))[0].slice(0, 2)), ['a', 'd/1']);
    const [files, next, response] = await bucket.getFiles({prefix: 'd/', delimiter: '/', autoPaginate: false});
    assert.deepEqual([names(files), next, response.prefixes], [['d/1', 'd/2'], null, ['d/e/']]);
    const [, more] = await bucket.getFiles({maxResults: 2, autoPaginate: false});
    assert.deepEqual(names((await bucket.getFiles({...more, autoPaginate: false}))[0]), ['d/2', 'd/e/3']);
    assert.deepEqual(names((await bucket.getFiles({matchGlob: '**.txt'}))[0]), ['d/e/4.txt']);
    const streamed = [];
    for await (const file of bucket.getFilesStream({prefix: 'd/e'})) streamed.push(file.name);
    assert.deepEqual(streamed, ['d/e/3', 'd/e/4.txt']);
    await bucket.deleteFiles({prefix: 'd/'});
    assert.deepEqual(names((await bucket.getFiles())[0]), ['a']);
  },

  async changes(bucket) {
    for (const name of ['1', '2']) await bucket.file(name).save(name, {resumable: false});
    await bucket.combine(['1', '2'], 'both');
    assert.equal((await bucket.file('both').download())[0].toString(), '12');
    const [copy] = await bucket.file('both').copy('copy', {metadata: {new: '1'}});
    assert.equal((await copy.download())[0].toString(), '12');
    await copy.move('moved ü');
    assert.equal((await copy.exists())[0], false);
    const file = bucket.file('moved ü');
    const [old] = await file.getMetadata();
    const [metadata] = await file.setMetadata({contentType: 'x/y', metadata: {a: '1'}});
    assert.equal(metadata.contentType, 'x/y');
    assert.equal(Number(metadata.metageneration), Number(old.metageneration) + 1);
    await file.setMetadata({metadata: {a: null}});
    assert.ok(!('a' in ((await file.getMetadata())[0].metadata ?? {})));
    const options = {resumable: false, preconditionOpts: {ifGenerationMatch: 0}};
    await fails(file.save('x', options), 412);
    await fails(file.delete({ifGenerationMatch: 1}), 412);
    await bucket.file('new').save('x', options);
    await file.delete();
    await fails(file.delete(), 404);
    await file.delete({ignoreNotFound: true});
    await bucket.file('1').setStorageClass('nearline');
    assert.equal((await bucket.file('1').getMetadata())[0].storageClass, 'NEARLINE');
  },

  async buckets(bucket) {
    await bucket.setLabels({team: 'a'});
    assert.deepEqual((await bucket.getLabels())[0], {team: 'a'});
    await bucket.setMetadata({versioning: {enabled: true}});
    await bucket.file('v').save('1', {resumable: false});
    const [{generation}] = await bucket.file('v').getMetadata();
    await bucket.file('v').save('2', {resumable: false});
    assert.equal((await bucket.file('v', {generation}).download())[0].toString(), '1');
    assert.equal((await bucket.getFiles({versions: true}))[0].length, 2);
    assert.ok((await storage.getBuckets())[0].some(other => other.name === bucket.name));
    await fails(storage.createBucket(bucket.name), 409);
    await fails(bucket.delete(), 409);
    await bucket.deleteFiles({versions: true});
    await bucket.delete();
    assert.equal((await bucket.exists())[0], false);
  },
};

(async () => {
  const [bucket] = await storage.createBucket(`node-${part}-${process.pid}`, {location: 'europe-west1'});
  await parts[part](bucket);
  console.log('done');
})().catch(error => { console.error(error); process.exit(1); });
'''


class Parts:
    """The tests for each way to configure the endpoint."""

    release = '8'

    @classmethod
    def setUpClass(cls):
        cls.home = support.node_modules(f'storage-{cls.release}',
                                        f'@google-cloud/storage@{cls.release}')
        (cls.home / 'client.js').write_text(SOURCE)
        super().setUpClass()

    def part(self, name):
        env = dict(self.emulator.env)
        endpoint = self.emulator.url if self.by_endpoint else '-'
        if self.by_endpoint:
            del env['STORAGE_EMULATOR_HOST']
        with tempfile.TemporaryDirectory() as work:
            done = support.run(['node', self.home / 'client.js', name, endpoint, work], env=env,
                               timeout=180)
        self.assertEqual(done.stdout, 'done\n')

    def test_uploads_downloads_and_streams(self):
        self.part('transfers')

    def test_get_files_by_pages(self):
        self.part('lists')

    def test_copies_composition_metadata_and_conditions(self):
        self.part('changes')

    def test_buckets_and_versions(self):
        self.part('buckets')


class ByEnvironment(Parts, support.EmulatorTest):
    """STORAGE_EMULATOR_HOST: paths without /storage/v1."""

    by_endpoint = False


class OfRelease7(Parts, support.EmulatorTest):
    """The previous major release, with the variable."""

    by_endpoint = False
    release = '7'


class ByEndpoint(Parts, support.EmulatorTest):
    """apiEndpoint in the code."""

    by_endpoint = True


if __name__ == '__main__':
    support.main()
