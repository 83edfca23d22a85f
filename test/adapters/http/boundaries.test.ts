/** Handlers that fail in every way, and clients that disconnect at every stage: no request may affect another. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Answer, Call, Handlers } from '../../../adapters/http/call.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { runs } from '../../rig/runs.ts';
import { echo, handlersOf, startRig } from './rig.ts';
import '../../rig/seed.ts';

const boom = (): never => {
  throw new TypeError('boom');
};
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const circular: Record<string, unknown> = {};
circular['self'] = circular;

/** Behaviour of a handler; `gone` resolves when the client has disconnected. */
const acts: Readonly<Record<string, (call: Call, gone: Promise<void>) => Answer | Promise<Answer>>> = {
  answers: (call) => echo(call),
  'answers when the client is gone': (call, gone) => gone.then(() => echo(call)),
  throws: boom,
  rejects: () => later().then(boom),
  'rejects when the client is gone': (_call, gone) => gone.then(boom),
  'throws no error': () => {
    throw undefined;
  },
  'rejects with text': () => Promise.reject('text'),
  'answers with what JSON cannot have': () => ({ status: 200, body: circular }),
  'answers with a status that is not published': () => ({ status: 299, body: {} }),
  'answers with a header that HTTP cannot have': (call) => ({ ...echo(call), headers: { 'X-Broken': 'a\r\nb' } }),
  'answers with a stream that fails': () => ({
    status: 200,
    body: new ReadableStream({ pull: () => later().then(boom) }),
  }),
  'answers with a stream that fails at once': () => ({
    status: 200,
    body: new ReadableStream({ start: (controller) => controller.error(new Error('boom')) }),
  }),
  'answers with a stream of the wrong kind': () => ({
    status: 200,
    body: new ReadableStream({
      pull: (controller) => {
        controller.enqueue(7);
        controller.close();
      },
    }),
  }),
};

/** Times at which the client destroys its socket. */
const leavings = [
  'before the end of the head',
  'before the end of the body',
  'after the request',
  'with the answer',
  'never',
];

const request = fc.record({
  operation: fc.constantFrom(...operations),
  act: fc.constantFrom(...Object.keys(acts)),
  leaves: fc.constantFrom(...leavings),
  resets: fc.boolean(),
});
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

/** Resolves when the connection is closed. */
function send(url: string, { operation, leaves, resets }: Request, handled: Promise<void>): Promise<void> {
  const path = operation.path.replaceAll(/\{[^}]*\}/g, 'VF3VGEBENCH000001');
  const root = operation.side === 'fleet' ? '' : '/connectedcar/v4';
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(operation.method);
  const body = hasBody ? '{}' : '';
  const type = hasBody ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` : '';
  const head = `${operation.method} ${root}${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${type}\r\n`;
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  const leave = (): void => void (resets ? socket.resetAndDestroy() : socket.destroy());
  socket.once('connect', () => {
    if (leaves === 'before the end of the head') socket.write(head.slice(0, 20), leave);
    else if (leaves === 'before the end of the body') socket.write(head, leave);
    else socket.write(head + body);
    if (leaves === 'after the request') void Promise.race([handled, ended]).then(leave);
    if (leaves === 'with the answer') socket.once('data', leave);
    else socket.resume();
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return ended;
}

test('the next request is answered, whatever a handler does and whenever its client disconnects', async () => {
  // The library prints errors that it catches.
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  let present: { readonly act: string; readonly handled: () => void; readonly gone: Promise<void> } | undefined;
  let reached = 0;
  const handlers: Handlers = Object.fromEntries(
    operations.map(({ id }) => [
      id,
      (call: Call) => {
        reached++;
        present?.handled();
        return (acts[present?.act ?? ''] ?? echo)(call, present?.gone ?? Promise.resolve());
      },
    ]),
  );
  const rig = await startRig({ handlers: handlersOf(operations, handlers) });
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      let handled: () => void = () => undefined;
      let gone: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        handled = resolve;
      });
      present = { act: one.act, handled, gone: new Promise((resolve) => (gone = resolve)) };
      // A client that stays and a handler that waits for its departure would wait forever.
      const waits = one.act.endsWith('gone') && (one.leaves === 'never' || one.leaves === 'with the answer');
      if (waits) gone();
      await send(rig.url, one, begun);
      gone();
      await later();
      present = undefined;
      expect((await rig.get('/fleets')).status).toBe(200);
    }),
    { numRuns: runs(400, 4_000) },
  );
  expect(reached).toBeGreaterThan(400);
});
