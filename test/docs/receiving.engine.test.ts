/** The Python program of docs/receiving.md reads every message like `decode` does. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CarDecoder, encodeMessage, type Kind, kinds } from '../../protocol/receiver.ts';
import { bodies } from '../../protocol/schema/message.ts';
import { upTopic } from '../../protocol/topics.ts';
import { describeNeeding } from '../needs.ts';
import { valuesOf } from '../protocol/cbor/arbitrary.ts';
import { at, withRealColumns } from '../protocol/real-columns.ts';
import { wholeDay } from '../rig/day-run.ts';
import { hourOfTheBench } from '../rig/hour.ts';

const program = fileURLToPath(new URL('../../docs/receive.py', import.meta.url));
const VIN = 'VF3VGEBENCH000001';
/** Time limit, ms. A day and an hour are simulated first, and the machine may be busy. */
const PATIENCE = 600_000;

/** A Python with cbor2: the one on the path may not be Debian's. */
const python =
  ['python3', '/usr/bin/python3'].find((command) => spawnSync(command, ['-c', 'import cbor2']).status === 0) ?? '';

/** Compares both decoders on the messages of one car in order. */
function compare(payloads: readonly Uint8Array[]): void {
  const decoder = new CarDecoder();
  const ours = payloads.map((payload) => JSON.parse(JSON.stringify(decoder.decode(payload))));
  const input = ours.map(({ kind }, i) => `${upTopic(VIN, kind)} ${Buffer.from(payloads[i]!).toString('hex')}\n`);
  const { stdout, stderr } = spawnSync(python, [program], {
    input: input.join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  expect(stderr).toBe('');
  const theirs = stdout.trimEnd().split('\n');
  expect(theirs).toHaveLength(ours.length);
  for (const [i, line] of theirs.entries()) {
    const { topic, ...message } = JSON.parse(line);
    expect(topic).toBe(upTopic(VIN, message.kind));
    expect(message).toEqual(ours[i]);
  }
}

test('the Python program is short enough to read at once', () => {
  expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});

describeNeeding(
  python !== '',
  'python3-cbor2 is not installed; run scripts/install-peers.sh as root',
  'docs/receive.py',
  () => {
    test(
      'the Python program reads all messages of a car’s day',
      async () => {
        const { day } = await wholeDay();
        compare(day.published.map(({ payload }) => payload));
      },
      PATIENCE,
    );

    test(
      'the Python program reads an hour with custom signals and the frames around a collision',
      async () => {
        const messages = await hourOfTheBench();
        compare(messages.map(({ payload }) => Buffer.from(payload, 'hex')));
      },
      PATIENCE,
    );

    for (const kind of kinds) {
      test(`the Python program reads made-up messages of kind ${kind}, compressed or not`, () => {
        const made = fc.sample(valuesOf(bodies[kind]) as fc.Arbitrary<object>, { numRuns: 50, seed: 2026 });
        compare(made.map((body, seq) => encoded(kind, seq, withRealColumns(body))));
      });
    }
  },
);

function encoded(kind: Kind, seq: number, body: object): Uint8Array {
  return encodeMessage({ version: 1, kind, seq, boot: 1, at, clock: 'gnss', body });
}
