"""@google-cloud/aiplatform for Node, over REST (`fallback: true`) and over gRPC, its default."""

import urllib.parse

import support
import vertex_jobs

SOURCE = r'''
const assert = require('node:assert/strict');
const {JobServiceClient, PipelineServiceClient} = require('@google-cloud/aiplatform');

const [part, host, port] = process.argv.slice(2);
const isRest = port !== undefined;
const options = isRest ? {fallback: true, protocol: 'http', apiEndpoint: host, port: Number(port),
  projectId: 'demo-project'} : {apiEndpoint: host};
const jobs = new JobServiceClient(options);
const pipelines = new PipelineServiceClient(options);
const parent = 'projects/demo-project/locations/us-central1';
const collection = /^projects\/\d+\/locations\/us-central1\/(customJobs|trainingPipelines|operations)\/\d+$/;

function pool(...command) {
  return {machineSpec: {machineType: 'n1-standard-4'}, replicaCount: 1,
    containerSpec: {imageUri: 'gcr.io/demo/echo:v1', command, args: command.length ? [] : ['one'],
      env: [{name: 'GREETING', value: 'hello'}]}};
}

async function create(displayName, ...command) {
  const customJob = {displayName, labels: {part}, jobSpec: {workerPoolSpecs: [pool(...command)],
    scheduling: {timeout: {seconds: 600}, strategy: 'SPOT'}}};
  const [job] = await jobs.createCustomJob({parent, customJob});
  assert.match(job.name, collection);
  assert.equal(job.state, 'JOB_STATE_PENDING');
  return job.name;
}

async function until(name, state) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const [job] = await jobs.getCustomJob({name});
    if (job.state === state) return job;
    assert.ok(!job.endTime && Date.now() < deadline, `${name} is ${job.state}, not ${state}`);
    await new Promise(resume => setTimeout(resume, 50));
  }
}

async function fails(promise, code, text) {
  await assert.rejects(promise, error => {
    assert.equal(error.code, isRest ? code.http : code.grpc, error);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}

const FAILED_PRECONDITION = {http: 400, grpc: 9};
const NOT_FOUND = {http: 404, grpc: 5};
const INVALID_ARGUMENT = {http: 400, grpc: 3};

const parts = {
  async jobs() {
    const job = await until(await create('run'), 'JOB_STATE_SUCCEEDED');
    assert.deepEqual(job.labels, {part});
    assert.equal(job.jobSpec.scheduling.strategy, 'SPOT');
    assert.equal(Number(job.jobSpec.scheduling.timeout.seconds), 600);
    assert.equal(Number(job.jobSpec.workerPoolSpecs[0].replicaCount), 1);
    assert.deepEqual(job.jobSpec.workerPoolSpecs[0].containerSpec.args, ['one']);
    assert.ok(Number(job.endTime.seconds) >= Number(job.createTime.seconds));
    console.log(job.name);
  },

  async lists() {
    const names = [];
    for (const name of ['a', 'b', 'c']) names.push(await create(name));
    for (const name of names) await until(name, 'JOB_STATE_SUCCEEDED');
    const found = async request => {
      const names = [];
      for await (const job of jobs.listCustomJobsAsync({parent, ...request})) names.push(job.name);
      return names;
    };
    assert.deepEqual(await found({filter: `labels.part=${part}`, pageSize: 2}), [...names].reverse());
    assert.deepEqual(await found({filter: `labels.part=${part} AND display_name="b"`}), [names[1]]);
    const [first, next] = await jobs.listCustomJobs({parent, pageSize: 2}, {autoPaginate: false});
    assert.deepEqual(first.map(job => job.name), [names[2], names[1]]);
    assert.ok(next.pageToken);
    const [masked] = await jobs.listCustomJobs(
      {parent, filter: 'display_name=a', readMask: {paths: ['name', 'display_name']}});
    assert.deepEqual(masked.map(job => [job.name, job.displayName, job.jobSpec]), [[names[0], 'a', null]]);
    assert.deepEqual(await found({filter: 'display_name=none'}), []);
  },

  async cancels() {
    const name = await create('cancel', 'sleep', '600');
    await until(name, 'JOB_STATE_RUNNING');
    await fails(jobs.deleteCustomJob({name}), FAILED_PRECONDITION, 'Cancel it, and wait for its end.');
    await jobs.cancelCustomJob({name});
    assert.equal((await until(name, 'JOB_STATE_CANCELLED')).error.code, 1);
    const [operation] = await jobs.deleteCustomJob({name});
    assert.match(operation.name, collection);
    await operation.promise();
    const again = await jobs.checkDeleteCustomJobProgress(operation.name);
    assert.equal(again.done, true);
    await fails(jobs.getCustomJob({name}), NOT_FOUND, 'The CustomJob does not exist.');
    await fails(jobs.createCustomJob({parent, customJob: {displayName: 'bad', jobSpec: {workerPoolSpecs: [
      {...pool(), replicaCount: 2}]}}}), INVALID_ARGUMENT, 'Field: job_spec.worker_pool_specs[0].replica_count');
  },

  async pipelines() {
    const value = object => {
      if (Array.isArray(object)) return {listValue: {values: object.map(value)}};
      if (typeof object === 'object') {
        return {structValue: {fields: Object.fromEntries(Object.entries(object).map(([k, v]) => [k, value(v)]))}};
      }
      return typeof object === 'number' ? {numberValue: object} : {stringValue: object};
    };
    const [made] = await pipelines.createTrainingPipeline({parent, trainingPipeline: {
      displayName: 'pipeline',
      trainingTaskDefinition: 'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml',
      trainingTaskInputs: value({workerPoolSpecs: [pool()]})}});
    assert.match(made.name, collection);
    const deadline = Date.now() + 60_000;
    let pipeline = made;
    while (pipeline.state !== 'PIPELINE_STATE_SUCCEEDED') {
      assert.ok(Date.now() < deadline, pipeline.state);
      [pipeline] = await pipelines.getTrainingPipeline({name: made.name});
    }
    const backing = pipeline.trainingTaskMetadata.structValue.fields.backingCustomJob.stringValue;
    assert.equal((await jobs.getCustomJob({name: backing}))[0].state, 'JOB_STATE_SUCCEEDED');
    const [operation] = await pipelines.deleteTrainingPipeline({name: made.name});
    await operation.promise();
    assert.deepEqual((await pipelines.listTrainingPipelines({parent}))[0], []);
  },
};

parts[part]().then(() => console.log('done'), error => { console.error(error); process.exit(1); });
'''


class Node(vertex_jobs.VertexTest):
    """JobServiceClient and PipelineServiceClient."""

    @classmethod
    def setUpClass(cls):
        cls.home = support.node_modules('aiplatform', '@google-cloud/aiplatform')
        cls.client = cls.home / 'client.js'
        cls.client.write_text(SOURCE)
        super().setUpClass()

    def place(self):
        """The words that lead the client here."""
        place = urllib.parse.urlsplit(self.emulator.url)
        return place.hostname, place.port

    def part(self, name):
        done = support.run(['node', '--no-warnings', self.client, name, *self.place()],
                           env=self.emulator.env, cwd=self.directory)
        lines = done.stdout.split()
        self.assertEqual(lines[-1], 'done')
        return lines[:-1]

    def test_jobs_run_to_their_end(self):
        name, = self.part('jobs')
        self.assertEqual(self.lines(name), [('workerpool0-0', 'a container: hello one')])

    def test_jobs_are_listed_by_pages_and_filters(self):
        self.part('lists')

    def test_jobs_are_cancelled_deleted_and_refused(self):
        self.part('cancels')

    def test_pipelines_have_a_job_and_are_deleted(self):
        self.part('pipelines')


class NodeOverGrpc(Node):
    """The same with the default transport, Google's own name, and the variables of `caip env` alone."""

    def place(self):
        return [f'{self.region}-aiplatform.googleapis.com']


if __name__ == '__main__':
    support.main()
