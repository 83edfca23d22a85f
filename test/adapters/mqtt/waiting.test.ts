import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Closing, ProtocolChoice } from '../../../adapters/mqtt/protocol-choice.ts';
import { Backoff } from '../../../agent/backoff.ts';

describe('back-off', () => {
  it('doubles its limit up to the maximum, without end, and picks evenly below it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 5000, max: 600_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (first, longest, chance) => {
          const backoff = new Backoff({ first, longest }, () => chance);
          for (let n = 0; n < 2000; n++) {
            expect(backoff.next()).toBeCloseTo(chance * Math.min(longest, first * 2 ** n), 6);
          }
          backoff.reset();
          expect(backoff.next()).toBeCloseTo(chance * first, 6);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('choice of the protocol version', () => {
  const silent: Closing = {
    stage: 'connecting',
    reason: '',
    code: undefined,
    silent: true,
    unanswered: false,
    overdue: false,
    cause: undefined,
  };
  const refused = (code: number): Closing => ({ ...silent, silent: false, code });
  const away: Closing = { ...silent, stage: 'dialing', silent: false };
  const lost: Closing = { ...silent, stage: 'connected' };

  it('falls back to 3.1.1 at once if 5 is refused by a reason code or by closing', () => {
    for (const closing of [refused(0x84), refused(0x01), silent]) {
      const choice = new ProtocolChoice('auto');
      expect(choice.version).toBe(5);
      expect(choice.ended(closing)).toBe(true);
      expect(choice.version).toBe(4);
      choice.accepted();
      expect(choice.ended(lost)).toBe(false);
      expect(choice.version).toBe(4);
    }
  });

  it('stays with 5 if the broker is unreachable or refuses the client', () => {
    for (const closing of [away, refused(0x87), refused(0x05)]) {
      const choice = new ProtocolChoice('auto');
      expect(choice.ended(closing)).toBe(false);
      expect(choice.version).toBe(5);
    }
  });

  it('starts again with 5 if neither version was accepted', () => {
    const choice = new ProtocolChoice('auto');
    choice.ended(silent);
    expect(choice.ended(silent)).toBe(false);
    expect(choice.version).toBe(5);
    choice.ended(silent);
    expect(choice.ended(away)).toBe(false);
    expect(choice.version).toBe(5);
  });

  it('leaves a version that has worked only after a reason code', () => {
    const choice = new ProtocolChoice('auto');
    choice.accepted();
    for (const closing of [silent, away, lost, refused(0x88)]) expect(choice.ended(closing)).toBe(false);
    expect(choice.version).toBe(5);
    expect(choice.ended(refused(0x84))).toBe(true);
    expect(choice.version).toBe(4);
  });

  it('stays with a configured version', () => {
    for (const version of [5, 4] as const) {
      const choice = new ProtocolChoice(version);
      for (const closing of [silent, away, refused(0x84)]) expect(choice.ended(closing)).toBe(false);
      expect(choice.version).toBe(version);
    }
  });
});
