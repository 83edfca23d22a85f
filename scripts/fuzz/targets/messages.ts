/** Tests bytes that arrive over the air: messages of the protocol, the telemetry in them, and signed commands. */
import fc from 'fast-check';
import { decodeMessage, encodeMessage } from '../../../protocol/cbor/message.ts';
import {
  type Command,
  commandSchema,
  decodeBody,
  encodeBody,
  encodeCommand,
  openCommand,
} from '../../../protocol/command.ts';
import { EDDSA, encodeSigned } from '../../../protocol/cose.ts';
import { type BodyKind, bodies, type Message, messageSchema } from '../../../protocol/schema/message.ts';
import { readingsFromTelemetry, type Telemetry, telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { BASE, valuesOf } from '../../../test/protocol/cbor/arbitrary.ts';
import type { FuzzTarget } from '../target.ts';

const kinds = Object.keys(bodies) as BodyKind[];

function sample<T>(values: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(values, { seed: 1, numRuns: count });
}

function telemetry(): Telemetry {
  const slot = slotByPath.get('kinetic.speed');
  if (slot === undefined) throw new Error('Status has no speed');
  return telemetryFromReadings(Array.from({ length: 40 }, (_, i) => ({ slot, value: i % 7, at: BASE + i * 250 })));
}

export const message: FuzzTarget = {
  name: 'cbor-message',
  seeds: () => {
    const any = kinds
      .filter((kind) => kind !== 'telemetry')
      .flatMap((kind) =>
        sample(valuesOf(messageSchema(kind)) as fc.Arbitrary<Message>, 3).map((one) => ({
          ...one,
          version: 1,
          kind,
          at: BASE + (one.at % 1e9),
        })),
      );
    const envelope = { version: 1, seq: 1, boot: 1, at: BASE, clock: 'none' } as const;
    return [...any, { ...envelope, kind: 'telemetry', body: telemetry() }].map((one) => encodeMessage(one as Message));
  },
  words: ['\u0018', '\u001b', '_', '\u007f', '\u009f', '\u00bf', '\u00c1', '\u00f9', '\u00fb', '\u00ff'],
  run(input) {
    const decoded = decodeMessage(input);
    if (decoded.kind === 'telemetry') readingsFromTelemetry(decoded.body);
    encodeMessage(decoded);
    return true;
  },
};

function signed(command: Command): Uint8Array {
  const keyId = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
  return encodeSigned(encodeCommand(command), { algorithm: EDDSA, keyId }, () => new Uint8Array(64).fill(7));
}

export const command: FuzzTarget = {
  name: 'command',
  seeds: () => [
    ...sample(valuesOf(commandSchema), 6).map((one) =>
      signed({ ...one, kind: 'Doors', body: encodeBody('Doors', { state: 'Unlocked' }), expires: one.issued + 30_000 }),
    ),
    signed({
      id: '0d9f2f3e-6c3b-4e5f-9a51-2c8b8e3f7a10',
      vin: 'VF3TESTBENCH00001',
      kind: 'Doors',
      body: encodeBody('Doors', { state: 'Locked' }),
      issued: BASE,
      expires: BASE + 30_000,
      counter: BASE,
    }),
  ],
  run(input) {
    const { command: opened } = openCommand(input);
    if (opened.kind === 'Doors') decodeBody('Doors', opened.body);
    return true;
  },
};
