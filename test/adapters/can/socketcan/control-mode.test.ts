import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOneShot, readOneShot } from '../../../../adapters/can/socketcan/control-mode.ts';
import { loadLibc } from '../../../../adapters/can/socketcan/libc.ts';

/** A padded `struct rtattr` (linux/rtnetlink.h). */
function attribute(type: number, ...data: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(data);
  const bytes = Buffer.alloc((4 + content.length + 3) & ~3);
  bytes.writeUInt16LE(4 + content.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(content, 4);
  return bytes;
}

function words(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values).buffer);
}

/**
 * The kernel's answer about an interface: its name and kind; for a CAN controller also bit timing, state and control
 * mode.
 */
function link(kind: string, flags: number, type = 16, nested = 0): Uint8Array {
  const data = [attribute(1, words(500_000, 875)), attribute(4, words(0)), attribute(5, words(0xff, flags))];
  const information = attribute(18 | nested, attribute(1, Buffer.from(`${kind}\0`)), attribute(2 | nested, ...data));
  const content = Buffer.concat([attribute(3, Buffer.from('can0\0')), information]);
  const header = Buffer.alloc(32);
  header.writeUInt32LE(32 + content.length, 0);
  header.writeUInt16LE(type, 4);
  return Buffer.concat([header, content]);
}

describe('the control mode of a controller', () => {
  it.each([
    ['one-shot', link('can', 0x08), true],
    ['one-shot and others', link('can', 0x3a), true],
    ['one-shot, marked as nested', link('can', 0x08, 16, 0x8000), true],
    ['others', link('can', 0x37), false],
    ['the same number of another kind of interface', link('vxcan', 0x08), false],
    ['an error', link('can', 0x08, 2), false],
    ['nothing', new Uint8Array(0), false],
  ])("is read from the kernel's answer: %s", (_, answer, expected) => {
    expect(readOneShot(answer)).toBe(expected);
  });

  it('is not misread if the answer is truncated or damaged', () => {
    const whole = link('can', 0x08);
    for (let length = 0; length < whole.length; length++) expect(readOneShot(whole.subarray(0, length))).toBe(false);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }), (changes) => {
        const bytes = whole.slice();
        for (const [place, value] of changes) bytes[place] = value;
        expect(typeof readOneShot(bytes)).toBe('boolean');
      }),
    );
  });

  it.runIf(process.platform === 'linux')('is requested from this machine’s kernel', async () => {
    const libc = await loadLibc();
    const answers: number[] = [];
    const listening = {
      ...libc,
      receive: (descriptor: number, into: Uint8Array) => {
        answers.push(libc.receive(descriptor, into), into[4] as number, into[20] as number);
        return answers[0] as number;
      },
    };
    // The loopback interface has index 1.
    expect(isOneShot(listening, 1)).toBe(false);
    expect(answers[0]).toBeGreaterThan(32);
    expect(answers.slice(1)).toEqual([16, 1]);
    expect(isOneShot(libc, 0x7fff_ffff)).toBe(false);
  });
});
