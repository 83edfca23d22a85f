import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { type Command, encodeBody } from '../../../protocol/command.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { VirtualClock } from '../../rig/clock.ts';
import * as rig from './rig.ts';
import { carOf, disk, type Setting, signed, stranger } from './rig.ts';

/** A command that locks the doors. */
const commandOf = (clock: VirtualClock, rest: Partial<Command> = {}): Command =>
  rig.commandOf(clock, 'Doors', { state: 'Locked' }, rest);

const LOCKED = 'doorsState.lockedStates';
const SPEED = 'kinetic.speed';

function setUp(setting: Setting = {}) {
  const car = carOf({ profile: ['doors.lock', 'doors.unlock'], without: ['WakeUp'], ...setting });
  const states = () => car.reports.map(({ status: state, failureCause }) => failureCause ?? state);
  return { ...car, states };
}

describe('door commands', () => {
  test('a door command is Accepted, SentToVehicle and Success once Status shows it, and a second one is AlreadyDone', async () => {
    const { give, states, actuated, clock, see } = setUp();
    await give(signed(commandOf(clock)));
    expect(states()).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    see(LOCKED, ['Locked']);
    await give(signed(commandOf(clock)));
    expect(states().slice(3)).toEqual(['Accepted', 'SentToVehicle', 'AlreadyDone']);
    expect(actuated).toEqual(['doors.lock']);
  });

  test('a door command fails if the car does not show the result', async () => {
    const { give, states, clock } = setUp({ obeys: false });
    await give(signed(commandOf(clock)));
    expect(states()).toEqual(['Accepted', 'SentToVehicle', 'VehicleError']);
  });

  test('a door command runs if Status has the result only as a stale value', async () => {
    const { give, states, actuated, clock, see } = setUp();
    see(LOCKED, ['Locked']);
    clock.advance(6_000);
    await give(signed(commandOf(clock)));
    expect(actuated).toEqual(['doors.lock']);
    expect(states().at(-1)).toBe('Success');
  });

  test('one id signed twice at the same time is one command, with one answer', async () => {
    const { give, states, actuated, clock, remotes } = setUp();
    const command = commandOf(clock);
    const again = remotes.intake.receive(signed(command));
    await give(signed(commandOf(clock, { id: command.id })));
    await again;
    expect(actuated).toEqual(['doors.lock']);
    expect(states()).not.toContain('SameActionInProgress');
    expect(states().filter((state) => state === 'Success' || state === 'VehicleError')).toEqual(['Success']);
  });

  test('a command sent twice runs once and gets the same answer, at once or later', async () => {
    const { give, states, actuated, clock, remotes } = setUp();
    const payload = signed(commandOf(clock));
    const again = remotes.intake.receive(payload);
    await give(payload);
    await again;
    await give(payload);
    expect(actuated).toEqual(['doors.lock']);
    expect(states().at(-1)).toBe('Success');
    expect(states()).not.toContain('MissingRights');
  });

  test('a command is refused while another of its kind is in progress', async () => {
    const { give, reports, actuated, clock, remotes } = setUp();
    const first = remotes.intake.receive(signed(commandOf(clock, { id: 'first' })));
    await give(signed(commandOf(clock, { id: 'second' })));
    await first;
    expect(actuated).toEqual(['doors.lock']);
    const ends = reports.filter(({ status }) => status !== 'Accepted' && status !== 'SentToVehicle');
    expect(ends.map(({ remoteActionId, failureCause }) => [remoteActionId, failureCause])).toEqual([
      ['second', 'SameActionInProgress'],
      ['first', undefined],
    ]);
  });

  test.each([
    ['the car drives', 7, 0],
    ['the speed is stale', 0, 6_000],
  ])('unlocking is refused when %s', async (_name, kmh, silence) => {
    const { give, states, actuated, clock, see } = setUp();
    see(SPEED, kmh);
    clock.advance(silence);
    see(LOCKED, ['Locked']);
    await give(signed(commandOf(clock, { body: encodeBody('Doors', { state: 'Unlocked' }) })));
    expect(states()).toEqual(['Accepted', 'SentToVehicle', 'VehicleInUse']);
    expect(actuated).toEqual([]);
  });

  test('locking is allowed while driving', async () => {
    const { give, states, clock, see } = setUp();
    see(SPEED, 50);
    await give(signed(commandOf(clock)));
    expect(states().at(-1)).toBe('Success');
  });
});

test('a stop during the resume of the agent leaves no timer', async () => {
  const { remotes, clock } = setUp();
  const resumed = remotes.resume();
  remotes.stop();
  await resumed;
  expect(clock.pending).toBe(0);
});

describe('refused commands', () => {
  test.each<[string, (clock: VirtualClock) => Partial<Command>, string, Setting?]>([
    ['late', (clock) => ({ issued: clock.now() - 9, expires: clock.now() - 1 }), 'VehicleConnectionTimeout'],
    [
      'from the future',
      (clock) => ({ issued: clock.now() + 400_000, expires: clock.now() + 500_000 }),
      'VehicleConnectionTimeout',
    ],
    ['while the car does not know the time', () => ({}), 'VehicleConnectionTimeout', { quality: 'none' }],
    ['of a kind that the key may not send', () => ({ kind: 'WakeUp' }), 'MissingRights'],
    ['of a kind without a handler', () => ({ kind: 'Horn' }), 'WrongCommand'],
    ['with a body of another kind', () => ({ body: Uint8Array.of(0x80) }), 'WrongCommand'],
  ])('a command is refused with its cause: %s', async (_name, rest, cause, rig) => {
    const { give, states, actuated, clock, document } = setUp(rig);
    await give(signed(commandOf(clock, rest(clock))));
    expect(states()).toEqual([cause]);
    expect(actuated).toEqual([]);
    expect(document.data.actions).toHaveLength(1);
  });

  test.each([
    ['at the millisecond it expires', { issued: -1_000, expires: 0 }, 'AlreadyDone'],
    ['a millisecond after it has expired', { issued: -1_000, expires: -1 }, 'VehicleConnectionTimeout'],
    ['issued as far ahead as clocks may differ', { issued: 300_000, expires: 300_001 }, 'AlreadyDone'],
    ['issued a millisecond further ahead', { issued: 300_001, expires: 300_002 }, 'VehicleConnectionTimeout'],
    ['valid for 24 h', { issued: 0, expires: 86_400_000 }, 'AlreadyDone'],
    ['valid for a millisecond more than 24 h', { issued: 0, expires: 86_400_001 }, 'WrongCommand'],
  ])('the limits of validity apply to a command %s', async (_name, { issued, expires }, outcome) => {
    const { remotes, states, clock, see } = setUp();
    see(LOCKED, ['Locked']);
    // No time passes meanwhile.
    await remotes.intake.receive(
      signed(commandOf(clock, { issued: clock.now() + issued, expires: clock.now() + expires })),
    );
    expect(states().at(-1)).toBe(outcome);
  });

  test('a command is refused if the disk fails before any action', async () => {
    const { give, states, actuated, clock, refuse } = setUp();
    refuse();
    await give(signed(commandOf(clock)));
    expect(states()).toEqual(['GeneralError']);
    expect(actuated).toEqual([]);
  });

  test('a failed write of the ledger file is only logged, because the commits contain it', async () => {
    const refusing = async (): Promise<void> => {
      throw new VigieError('store.failed', 'no space left');
    };
    const { give, states, clock, log, memory } = setUp({ document: { data: emptyLedger, write: refusing } });
    const command = commandOf(clock);
    await give(signed(command));
    expect(states()).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    const next = setUp({ memory });
    await next.give(signed(command));
    expect(next.states()).toEqual(['Success']);
    expect(next.actuated).toEqual([]);
  });
});

describe('unanswered commands', () => {
  test('a used counter is not answered, so that an old message cannot contradict newer states', async () => {
    const { give, states, actuated, clock, remotes } = setUp();
    const first = commandOf(clock);
    await give(signed(first));
    await give(signed({ ...first, id: 'another' }));
    expect(states()).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    for (let i = 0; i < 300; i++) await give(signed(commandOf(clock, { body: Uint8Array.of(0x80) })), 0);
    const before = states().length;
    // The ledger no longer contains the first command.
    await give(signed(first));
    expect(states()).toHaveLength(before);
    expect(actuated).toEqual(['doors.lock']);
    expect(remotes.intake.unanswered).toBe(2);
  });

  test('wrong signatures, other cars, altered and arbitrary bytes are not answered', async () => {
    const { give, reports, actuated, clock, remotes } = setUp();
    const good = signed(commandOf(clock));
    const cases = [
      signed(commandOf(clock), stranger.privateKey),
      signed(commandOf(clock, { vin: 'VF3VGEBENCH000002' })),
      good.subarray(0, good.length - 1),
      Uint8Array.of(),
      Uint8Array.of(0xff, 0xff),
    ];
    for (const payload of cases) await give(payload, 100);
    expect(reports).toEqual([]);
    expect(actuated).toEqual([]);
    expect(remotes.intake.unanswered).toBe(cases.length);
  });

  test('a command with any single changed bit is rejected', async () => {
    const { remotes, reports, clock } = setUp();
    const good = signed(commandOf(clock));
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length * 8 - 1), async (bit) => {
        const bad = good.slice();
        bad[bit >> 3] = (bad[bit >> 3] as number) ^ (1 << (bit & 7));
        await remotes.intake.receive(bad);
        expect(reports).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('stops of the agent during a command', () => {
  test('when the agent stops during a command, nothing waits for the car any more', async () => {
    const { clock, states, remotes } = setUp({ obeys: false });
    const running = remotes.intake.receive(signed(commandOf(clock)));
    await clock.settle(500, 100);
    remotes.stop();
    await running;
    await remotes.settled();
    expect(clock.pending).toBe(0);
    expect(states()).toEqual(['Accepted', 'SentToVehicle']);
  });

  test('when the agent stops during a command, nothing false is stored or sent, and the next start settles it', async () => {
    const memory = new Map<string, unknown>();
    const { clock, states, remotes } = setUp({ memory, obeys: false });
    const running = remotes.intake.receive(signed(commandOf(clock)));
    await clock.settle(500, 100);
    remotes.stop();
    await remotes.intake.receive(signed(commandOf(clock)));
    await clock.settle(4_000, 100);
    await running;
    expect(states()).toEqual(['Accepted', 'SentToVehicle']);
    const next = setUp({ memory });
    const resumed = next.remotes.resume();
    next.see(LOCKED, ['Locked']);
    await next.clock.settle(100, 100);
    await resumed;
    expect(next.states()).toEqual(['Success']);
  });
});

describe('restarts', () => {
  const action = { id: 'left', type: 'Doors', action: 'doors.lock', at: 1 } as const;

  test.each([
    ['Accepted', true, 'VehicleError'],
    ['SentToVehicle', true, 'Success'],
    ['SentToVehicle', false, 'VehicleError'],
  ] as const)(
    'a command left %s by a restart ends without being repeated (shown: %s → %s)',
    async (left, shown, end) => {
      const document = disk({ counters: {}, actions: [{ ...action, status: left }] });
      const { remotes, clock, states, actuated, see } = setUp({ document });
      const resumed = remotes.resume();
      if (shown) clock.after(1_000, () => see(LOCKED, ['Locked']));
      await clock.settle(5_000, 100);
      await resumed;
      expect(states()).toEqual([end]);
      expect(actuated).toEqual([]);
      expect(document.data.actions.map(({ status }) => status)).toEqual([end === 'Success' ? 'Success' : 'Failed']);
    },
  );

  test('counters and ids are still known after a restart', async () => {
    const document = disk();
    const before = setUp({ document });
    const command = commandOf(before.clock);
    await before.give(signed(command));
    const { give, states, actuated } = setUp({ document: disk(document.data) });
    await give(signed(command));
    await give(signed({ ...command, id: 'another' }));
    expect(states()).toEqual(['Success']);
    expect(actuated).toEqual([]);
  });
});
