import { expect, test } from 'vitest';
import type { CommandState } from '../../../hub/core/ports.ts';
import { resendTrouble } from '../../../hub/core/resend-trouble.ts';

const EXPIRES = 1_000;
const request = (...states: readonly CommandState[]) => ({ type: 'Resend' as const, expires: EXPIRES, states });
const LATER = EXPIRES + 1;

test.each([
  ['no request', [], LATER],
  ['only another command', [{ ...request(), type: 'Doors' as const }], LATER],
  ['a request that may still be carried out', [request()], EXPIRES],
  ['a car that was not heard since', [request()], EXPIRES - 500],
  ['a request that was carried out', [request({ status: 'Success', at: 900 })], LATER],
  ['a newer request that may still be carried out', [{ ...request(), expires: LATER + 1 }, request()], LATER],
])('no resend trouble is shown for %s', (_, commands, lastSeen) => {
  expect(resendTrouble(commands, lastSeen)).toBeUndefined();
});

test('a car that sends messages but ignores resend commands is shown as not trusting the hub', () => {
  expect(resendTrouble([{ ...request(), type: 'Doors' }, request()], LATER)).toMatch(
    /does not trust the key of this hub/,
  );
});

test('a car that trusts no key of the hub is shown with the reason before any request', () => {
  expect(resendTrouble([], LATER, 'the car trusts no key for Resend')).toBe(
    'The car cannot be asked to send them again: the car trusts no key for Resend.',
  );
});

test('the reason for a refusal is shown', () => {
  const states: CommandState[] = [
    { status: 'Failed', failureCause: 'MissingRights', detail: 'the key has no right to Resend', at: 900 },
  ];
  expect(resendTrouble([request(...states)], LATER)).toMatch(
    /\(the key has no right to Resend\).*Resend among its kinds/,
  );
});
