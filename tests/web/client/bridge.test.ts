import { expect, test } from 'vitest';
import { Bridge } from '../../../web/src/client/bridge.ts';
import { createClient } from '../../../web/src/client/client.ts';
import { HeedError } from '../../../web/src/core/errors.ts';
import { FakeWorker } from './fake-worker.ts';

function bridged() {
  const fake = new FakeWorker();
  return { fake, bridge: new Bridge(fake.worker) };
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(() => { throw new Error('the call did not fail'); }, (error: unknown) => { expect(error).toBeInstanceOf(HeedError); return error as HeedError; });

test('answers find their calls, whatever their order', async () => {
  const { fake, bridge } = bridged();
  const calls = [bridge.call('memoryBytes', []), bridge.call('memoryBytes', [])];
  const [first, second] = fake.received.map(({ id }) => id);
  fake.says({ type: 'result', id: second!, value: 2 });
  fake.says({ type: 'result', id: first!, value: 1 });
  expect(await Promise.all(calls)).toEqual([1, 2]);
});

test('an error keeps its code, field, values and message', async () => {
  const { fake, bridge } = bridged();
  const failure = failureOf(bridge.call('memoryBytes', []));
  const error = { code: 'invalid-shape', field: 'query', received: '3 elements', expected: '20' } as const;
  fake.says({ type: 'error', id: fake.received[0]!.id, error });
  expect(await failure).toMatchObject({ ...error, message: 'query: received 3 elements, expected 20' });
});

test('abort() rejects at once, tells the worker, and later answers are dropped', async () => {
  const { fake, bridge } = bridged();
  const controller = new AbortController();
  const seen: number[] = [];
  const failure = failureOf(bridge.call('run', [1, 'exact'], { signal: controller.signal, onProgress: (fraction) => seen.push(fraction) }));
  const { id } = fake.received[0]!;
  fake.says({ type: 'progress', id, fraction: 0.25 });
  controller.abort();
  expect((await failure).code).toBe('aborted');
  expect(fake.received.at(-1)).toEqual({ type: 'abort', id });
  fake.says({ type: 'progress', id, fraction: 0.5 });
  fake.says({ type: 'result', id, value: { milliseconds: 1 } });
  expect(seen).toEqual([0.25]);
});

test('a call with an aborted signal is not sent, and a signal that aborts after the answer does nothing', async () => {
  const { fake, bridge } = bridged();
  expect((await failureOf(bridge.call('memoryBytes', [], { signal: AbortSignal.abort() }))).code).toBe('aborted');
  expect(fake.received).toEqual([]);
  const controller = new AbortController();
  const call = bridge.call('memoryBytes', [], { signal: controller.signal });
  fake.says({ type: 'result', id: fake.received[0]!.id, value: 7 });
  expect(await call).toBe(7);
  controller.abort();
  expect(fake.received).toHaveLength(1);
});

test('an argument that cannot be sent rejects its call alone', async () => {
  const { fake, bridge } = bridged();
  const bad = bridge.call('hash', [new Float32Array(1), 1, { buckets: (() => 2) as never }]);
  await expect(bad).rejects.toThrow(/could not be cloned/);
  const good = bridge.call('memoryBytes', []);
  fake.says({ type: 'result', id: fake.received[0]!.id, value: 7 });
  expect(await good).toBe(7);
});

test.each([
  ['an uncaught error', (fake: FakeWorker) => fake.fails('boom'), 'boom'],
  ['an error without a message, as of a script that is not there', (fake: FakeWorker) => fake.fails(''), 'an error'],
  ['a message that cannot be read', (fake: FakeWorker) => fake.dispatchEvent(new Event('messageerror')), 'a message'],
  ['a trap in the module', (fake: FakeWorker) =>
    fake.says({ type: 'error', id: fake.received[0]!.id, error: { code: 'worker-died', field: 'worker', received: 'RuntimeError: unreachable', expected: '' } }), 'RuntimeError'],
] as const)('%s is the death of the worker: all calls reject, now and later, and it is ended', async (_name, kill, reason) => {
  const { fake, bridge } = bridged();
  const failures = [failureOf(bridge.call('memoryBytes', [])), failureOf(bridge.call('memoryBytes', []))];
  kill(fake);
  for (const failure of await Promise.all(failures)) {
    expect(failure.code).toBe('worker-died');
    expect(failure.received).toContain(reason);
  }
  expect((await failureOf(bridge.call('memoryBytes', []))).code).toBe('worker-died');
  expect(fake.received).toHaveLength(2);
  expect(fake.terminated).toBe(true);
});

test('close() ends the worker, rejects what waits and what comes, and may be called twice', async () => {
  const { fake, bridge } = bridged();
  const failure = failureOf(bridge.call('memoryBytes', []));
  bridge.close();
  bridge.close();
  expect((await failure).code).toBe('disposed');
  expect((await failureOf(bridge.call('memoryBytes', []))).code).toBe('disposed');
  expect(fake.terminated).toBe(true);
});

test('a client whose module does not load ends its worker', async () => {
  const fake = new FakeWorker();
  const failure = failureOf(createClient({ worker: () => fake.worker }));
  fake.says({ type: 'error', id: fake.received[0]!.id, error: { code: 'wasm-unavailable', field: 'wasm', received: 'status 404', expected: 'the .wasm file' } });
  expect((await failure).code).toBe('wasm-unavailable');
  expect(fake.terminated).toBe(true);
});
