/** The list of checks defines the order of refusals: a command that fails all of them is repaired check by check. */
import { describe, expect, test } from 'vitest';
import { Status } from '../../../agent/model/status.ts';
import { type CommandCheck, checks, firstRefusal } from '../../../agent/remotes/checks.ts';
import { emptyLedger, Ledger } from '../../../agent/remotes/ledger.ts';
import { defaultLimits } from '../../../agent/remotes/power.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { remoteKindOf } from '../../../protocol/remote/table.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { disk } from './rig.ts';

const NOW = Date.UTC(2026, 5, 10, 9);
const HOUR = 3_600_000;

type Mendings = readonly (readonly [check: string, mended: object])[];

/** Codes of the refusals in turn, while `asked` is repaired step by step. */
function refusals(stage: CommandCheck['stage'], asked: object, mendings: Mendings): string[] {
  const codes: string[] = [];
  let now = asked;
  for (const [, mended] of mendings) {
    codes.push(firstRefusal(stage, now as never)?.code ?? 'none');
    now = { ...now, ...mended };
  }
  expect(firstRefusal(stage, now as never)).toBeUndefined();
  return codes;
}

/** Code of each check of a stage, in the order of the list. */
const listed = (stage: CommandCheck['stage']): string[] =>
  checks.filter((check) => check.stage === stage).flatMap(({ codes }) => codes);

const order = { id: 'a', type: 'Horn', issued: NOW - 2 * HOUR, expires: NOW - HOUR, own: false };
const late = { order, limits: { ...defaultLimits, maxValidity: HOUR / 2 }, now: NOW, quality: 'ntp' };

function statusOf(values: Readonly<Record<string, string | number | boolean>>): Status {
  const status = new Status();
  for (const [path, value] of Object.entries(values)) status.write(slotByPath.get(path) as never, value, NOW);
  return status;
}

describe('order of the checks', () => {
  test('the first failing check decides about a new command', () => {
    const asked = { ...late, rights: [], crowded: true, unsupported: 'minimal' };
    const mendings: Mendings = [
      ['rights', { rights: ['Horn'] }],
      ['crowd', { crowded: false }],
      ['kind', { unsupported: undefined }],
      ['validity', { limits: { ...defaultLimits, maxValidity: HOUR } }],
      ['expiry', { now: NOW - HOUR }],
    ];
    expect(refusals('order', asked, mendings)).toEqual(listed('order'));
    expect(mendings.map(([name]) => name)).toEqual(
      checks.filter(({ stage }) => stage === 'order').map(({ name }) => name),
    );
  });

  test('the first failing check decides about a command to the car', () => {
    const ledger = new Ledger(disk(emptyLedger));
    for (let count = 0; count < 10; count++) ledger.accept({ type: 'Horn', at: NOW }, NOW - 24 * HOUR);
    ledger.wake(NOW, NOW - HOUR);
    const car = { 'stolen.state': true, 'privacy.state': 'Full', 'battery.voltage': 10 };
    const { 'stolen.state': _found, ...hiding } = car;
    const { 'privacy.state': _shown, ...weak } = hiding;
    const limits = { ...defaultLimits, daily: 10, wakeUps: 1 };
    const asked = {
      kind: remoteKindOf('Horn'),
      order,
      other: 'b',
      ledger,
      limits,
      awake: false,
      now: NOW,
      status: statusOf(car),
      thefts: { current: undefined },
    };
    const mendings: Mendings = [
      ['progress', { other: undefined }],
      ['burst', { limits: { ...limits, burst: 11 } }],
      ['daily limit', { limits: { ...limits, burst: 11, daily: 11 } }],
      ['theft', { status: statusOf(hiding) }],
      ['privacy', { status: statusOf(weak) }],
      ['wake-ups', { awake: true }],
      ['battery', { status: statusOf({}) }],
    ];
    expect(refusals('car', asked, mendings)).toEqual(listed('car'));
    expect(mendings.map(([name]) => name)).toEqual(
      checks.filter(({ stage }) => stage === 'car').map(({ name }) => name),
    );
  });

  test('before each step the initial checks are repeated in order, followed by the interlocks', () => {
    const status = statusOf({ 'stolen.state': true, 'privacy.state': 'Full' });
    const interlocks = { code: 'command.vehicleInUse', detail: 'it drives' };
    const asked = { ...late, kind: remoteKindOf('Horn'), interlocks, status, thefts: { current: undefined } };
    const mendings: Mendings = [
      ['validity', { limits: { ...defaultLimits, maxValidity: HOUR } }],
      ['expiry', { now: NOW - HOUR }],
      ['theft', { status: statusOf({ 'privacy.state': 'Full' }) }],
      ['privacy', { status: statusOf({}) }],
      ['interlocks', { interlocks: undefined }],
    ];
    expect(refusals('step', asked, mendings)).toEqual([...listed('step'), 'command.vehicleInUse']);
    const names = (stages: readonly string[]): string[] =>
      checks.filter(({ stage }) => stages.includes(stage)).map(({ name }) => name);
    const repeated = names(['step']);
    expect(names(['order', 'car']).filter((name) => repeated.includes(name))).toEqual(repeated.slice(0, -1));
  });

  test('an invalid body, or an action missing in the profile, is refused', () => {
    const plan = new VigieError('command.malformed', 'it has no state');
    expect(firstRefusal('body', { plan })).toEqual({ code: 'command.malformed', detail: 'it has no state' });
    expect(firstRefusal('profile', { missing: 'horn.on' })?.code).toBe('command.unsupported');
    expect(firstRefusal('profile', { missing: undefined })).toBeUndefined();
  });
});

test('a command of the car itself is exempt from the maximum validity', () => {
  const asked = { ...late, now: NOW - HOUR, interlocks: undefined, kind: remoteKindOf('Horn'), status: statusOf({}) };
  const thefts = { current: undefined };
  const given = (own: boolean) => firstRefusal('step', { ...asked, thefts, order: { ...order, own } } as never);
  expect(given(true)).toBeUndefined();
  expect(given(false)?.code).toBe('command.longLived');
});
