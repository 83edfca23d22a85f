import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import {
  type Command,
  commandBounds,
  commandSchema,
  decodeBody,
  encodeBody,
  encodeCommand,
  openCommand,
} from '../../../protocol/command.ts';
import { EDDSA, encodeSigned } from '../../../protocol/cose.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { remoteBodies } from '../../../protocol/remote/table.ts';
import { signedCommandCddl, vigieCddl } from '../../../protocol/vigie-cddl.ts';
import { valuesOf } from '../cbor/arbitrary.ts';
import { readItem } from '../cddl/items.ts';
import { matchCddl } from '../cddl/matcher.ts';

const keyId = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
const signature = new Uint8Array(64).fill(7);
const signed = (payload: Uint8Array): Uint8Array => encodeSigned(payload, { algorithm: EDDSA, keyId }, () => signature);

const command: Command = {
  id: '0d9f2f3e-6c3b-4e5f-9a51-2c8b8e3f7a10',
  vin: 'VF3TESTBENCH00001',
  kind: 'Doors',
  body: encodeBody('Doors', { state: 'Locked' }),
  issued: 1_750_000_000_000,
  expires: 1_750_000_030_000,
  counter: 1_750_000_000_000,
};
const anyCommand: fc.Arbitrary<Command> = valuesOf(commandSchema)
  .filter(({ expires, issued }) => expires > issued)
  .chain((value) => valuesOf(remoteBodies.Doors).map((body) => ({ ...value, body: encodeBody('Doors', body) })));

test('golden: locking the doors', () => {
  expect(Buffer.from(encodeCommand(command)).toString('hex')).toBe(
    'a7' +
      '017824' +
      Buffer.from(command.id).toString('hex') +
      '0271' +
      Buffer.from(command.vin).toString('hex') +
      '0303' +
      '0443a10101' +
      '051b000001977420dc00' +
      '061b0000019774215130' +
      '071b000001977420dc00',
  );
});

test('a command is read back from its signed form', () => {
  fc.assert(
    fc.property(anyCommand, (command) => {
      const payload = encodeCommand(command);
      expect(readItem(payload).departures).toEqual([]);
      const opened = openCommand(signed(payload));
      expect(opened).toMatchObject({ command, keyId, algorithm: EDDSA, signature });
      expect(readItem(opened.toBeSigned).item).toMatchObject({
        entries: [{ value: 'Signature1' }, {}, { value: new Uint8Array() }, { value: payload }],
      });
    }),
  );
});

test('a command matches the CDDL, signed and unsigned', () => {
  const cddl = vigieCddl() + signedCommandCddl();
  fc.assert(
    fc.property(anyCommand, (command) => {
      const payload = encodeCommand(command);
      expect(matchCddl(cddl, 'command', payload)).toEqual([]);
      expect(matchCddl(cddl, 'command-body', command.body)).toEqual([]);
      expect(matchCddl(cddl, 'signed-command', signed(payload))).toEqual([]);
    }),
  );
  const odd = encodeSigned(new Uint8Array([0xa0]), { algorithm: EDDSA, keyId }, () => signature.subarray(1));
  expect(matchCddl(cddl, 'signed-command', odd)).not.toEqual([]);
});

describe('bodies', () => {
  test('are decoded as they were encoded', () => {
    fc.assert(
      fc.property(valuesOf(remoteBodies.Doors), (body) => {
        expect(decodeBody('Doors', encodeBody('Doors', body))).toEqual(body);
      }),
    );
  });
  test.each([
    ['an unknown state', 'a10102', /state must be a position below 2, is 2/],
    ['no state', 'a0', /must have the member state/],
    ['no map', '01', /must be a map/],
    ['nothing', '', /ends in the middle/],
    ['too deep', `${'81'.repeat(17)}00`, /deeper nesting/],
  ])('%s is refused', (_, hex, message) => {
    expect(() => decodeBody('Doors', new Uint8Array(Buffer.from(hex, 'hex')))).toThrow(
      expect.objectContaining({ code: 'command.malformed', message: expect.stringMatching(message) }),
    );
  });
  test('that are invalid are not encoded', () => {
    expect(() => encodeBody('Doors', { state: 'Ajar' })).toThrow(
      expect.objectContaining({ code: 'command.malformed', message: expect.stringMatching(/state must be one of/) }),
    );
  });
});

describe('faults', () => {
  test.each<[string, Partial<Command>, RegExp]>([
    ['a VIN with the letter O', { vin: 'VF3TESTBENCH0000O' }, /vin must match/],
    ['a short VIN', { vin: 'VF3' }, /vin must match/],
    ['no id', { id: '' }, /id must match/],
    ['an id with a line break', { id: 'a\nb' }, /id must match/],
    ['expiry before issue', { expires: command.issued }, /expires must be after issued/],
    ['a negative counter', { counter: -1 }, /counter must be at least 0/],
    ['a kind that does not exist', { kind: 'Roof' as never }, /kind must be one of/],
  ])('encode: %s', (_, change, message) => {
    expect(() => encodeCommand({ ...command, ...change })).toThrow(
      expect.objectContaining({ code: 'command.malformed', message: expect.stringMatching(message) }),
    );
  });

  /** A signed payload without the checks of encodeCommand. */
  const unchecked = (change: Partial<Command>): Uint8Array =>
    signed(compile(commandSchema).encode({ ...command, ...change }, 0));
  test.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /ends in the middle/],
    ['text', new Uint8Array(Buffer.from('{"doors":"unlock"}')), /tag 18/],
    ['an unsigned command', encodeCommand(command), /tag 18/],
    ['a payload that is not CBOR', signed(new Uint8Array([0xff])), /indefinite length or a lone break/],
    ['a payload that is not a command', signed(new Uint8Array([0xa0])), /must have the member id/],
    ['a payload too deep', signed(new Uint8Array(18).fill(0x81).with(17, 0)), /deeper nesting/],
    ['a body that is not CBOR', unchecked({ body: new Uint8Array([0x1c]) }), /reserved/],
    ['a body too deep', unchecked({ body: new Uint8Array(18).fill(0x81).with(17, 0) }), /deeper nesting/],
    ['expiry before issue', unchecked({ expires: command.issued }), /expires must be after issued/],
    ['more than 64 KiB', new Uint8Array(commandBounds.maximumBytes + 1), /65537 bytes; at most 65536/],
    ['a kind of a later version', signed(withKind(200)), /kind must be a position below/],
  ])('open: %s', (_, message, reason) => {
    expect(() => openCommand(message)).toThrow(
      expect.objectContaining({ code: 'command.malformed', message: expect.stringMatching(reason) }),
    );
  });

  test('opening anything else causes command.malformed', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(anyCommand, fc.array(change, { minLength: 1, maxLength: 3 }), (command, changes) => {
        const message = signed(encodeCommand(command));
        for (const [at, byte] of changes) message[at % message.length] = byte;
        try {
          openCommand(message);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          expect((error as VigieError).code).toBe('command.malformed');
        }
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        expect(() => openCommand(noise)).toThrow(expect.objectContaining({ code: 'command.malformed' }));
      }),
    );
  });
});

function withKind(position: number): Uint8Array {
  const payload = [...encodeCommand(command)];
  const at = 1 + 3 + command.id.length + 2 + command.vin.length + 1;
  payload.splice(at, 1, 0x18, position);
  return new Uint8Array(payload);
}
