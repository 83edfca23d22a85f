/** The minimal agent after repeated crashes: it reports why, and accepts only signed commands that may repair it. */

import { describe, expect, test } from 'vitest';
import { memoryOutboxStore } from '../../adapters/store/memory.ts';
import { MinimalAgent } from '../../agent/minimal.ts';
import type { SignatureVerifier } from '../../agent/ports.ts';
import type { AgentCommand } from '../../agent/remotes/agent-command.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { CommandKind, RemoteReport } from '../../protocol/schema/remote.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { VirtualClock } from '../rig/clock.ts';
import { KeptMemory } from '../rig/keeping.ts';
import { WireLink } from '../rig/link.ts';
import { MemoryLog } from '../rig/log.ts';
import { commandOf, disk, signed, stranger, VIN, verifierOf } from './remotes/rig.ts';

interface Setting {
  /** Command kinds that the trusted key may send. */
  readonly kinds?: readonly CommandKind[];
  readonly quality?: ClockQuality;
  readonly reason?: string;
  readonly ledger?: ReturnType<typeof disk>;
  readonly command?: () => void;
  /** The command takes until this resolves. */
  readonly wait?: Promise<void>;
}

function rightsTo(kinds: readonly CommandKind[]): SignatureVerifier {
  const all = verifierOf();
  return {
    key: (id) => {
      const key = all.key(id);
      return key && { ...key, kinds };
    },
    verify: (...signature) => all.verify(...signature),
    digest: (message) => all.digest(message),
  };
}

function setUp({
  kinds = ['Monitor', 'Doors'],
  quality = 'ntp',
  reason = 'it crashed',
  ledger = disk(),
  command,
  wait,
}: Setting = {}) {
  const clock = new VirtualClock();
  const link = new WireLink();
  const log = new MemoryLog();
  const ran: CommandKind[] = [];
  let ticks = 0;
  const monitor: AgentCommand = async () => {
    ran.push('Monitor');
    command?.();
    await wait;
  };
  const agent = new MinimalAgent(
    {
      clock,
      log,
      link,
      store: memoryOutboxStore(),
      memory: new KeptMemory(),
      verifier: rightsTo(kinds),
      ledger,
      agentCommands: new Map([['Monitor', monitor]]),
      ticked: () => ticks++,
    },
    {
      vin: VIN,
      version: '0.1.0',
      boot: 3,
      profile: 'bench',
      reason,
      quality: () => quality,
      window: () => 8,
      settings: agentSettings({ outbox: { limit: 1 << 20 } }),
      more: () => ({}),
    },
  );
  const said = () => link.published.map(({ payload }) => decodeMessage(payload));
  const reports = (): RemoteReport[] =>
    said().flatMap((one) => (one.kind === 'remote' ? [one.body as RemoteReport] : []));
  const give = async (payload: Uint8Array, topic = `vigie/1/${VIN}/down/remote`, correlation?: Uint8Array) => {
    agent.message(topic, payload, correlation);
    await clock.settle(1, 1);
    await clock.settle(1, 1);
  };
  link.connected = true;
  return { agent, clock, link, log, ran, said, reports, give, ledger, ticks: () => ticks };
}

const removal = { monitorId: 'a', remove: true };

test('the minimal agent reports at each connection its identity, the reason for the mode, and the numbers sent', () => {
  const { agent, said, log } = setUp({ reason: 'x'.repeat(300) });
  agent.up();
  agent.down('cut');
  agent.up();
  expect(said().map(({ kind, body }) => [kind, body])).toEqual([
    ['hello', expect.objectContaining({ mode: 'minimal', boot: 3, profile: 'bench', reason: 'x'.repeat(256) })],
    ['hello', expect.objectContaining({ mode: 'minimal', numbers: [{ class: 3, first: 0, below: 0 }] })],
  ]);
  expect(log.lines.map(({ event }) => event)).toEqual(['link.up', 'link.down', 'link.up']);
});

describe('commands in the minimal mode', () => {
  test('a command that may repair the agent runs once and is answered each time it arrives', async () => {
    const { clock, give, reports, ran, link, ledger } = setUp();
    const command = commandOf(clock, 'Monitor', removal);
    await give(signed(command), undefined, Uint8Array.of(7));
    await give(signed(command));
    expect(ran).toEqual(['Monitor']);
    const success = { remoteActionId: command.id, type: 'Monitor', status: 'Success' };
    expect(reports()).toEqual([success, success]);
    expect(link.published[0]?.correlation).toEqual(Uint8Array.of(7));
    const next = setUp({ ledger: disk(ledger.data) });
    await next.give(signed(command));
    expect([next.ran, next.reports()]).toEqual([[], [success]]);
  });

  test('a command is stored with its counter before it runs', async () => {
    const seen: unknown[] = [];
    const car: ReturnType<typeof setUp> = setUp({
      command: () => void seen.push(JSON.parse(JSON.stringify(car.ledger.data))),
    });
    const command = commandOf(car.clock, 'Monitor', removal);
    await car.give(signed(command));
    expect(seen).toMatchObject([{ actions: [{ id: command.id, status: 'Accepted' }] }]);
    // The power is cut while the command runs.
    const next = setUp({ ledger: disk(seen[0] as typeof car.ledger.data) });
    await next.give(signed({ ...command, id: 'another' }));
    await next.give(signed(command));
    await next.give(signed(command));
    expect(next.ran).toEqual([]);
    const failed = { remoteActionId: command.id, status: 'Failed', failureCause: 'VehicleError' };
    expect(next.reports()).toMatchObject([failed, failed]);
  });

  test('a command that cannot be stored does not run', async () => {
    const ledger = disk();
    ledger.write = async () => {
      throw new VigieError('store.failed', 'the disk is full');
    };
    const { clock, give, reports, ran } = setUp({ ledger });
    await give(signed(commandOf(clock, 'Monitor', removal)));
    expect([ran, reports()[0]?.failureCause]).toEqual([[], 'GeneralError']);
  });

  test('a command that arrives again while it runs is answered, and runs once', async () => {
    let go: () => void = () => undefined;
    const car = setUp({
      wait: new Promise<void>((resolve) => {
        go = resolve;
      }),
    });
    const command = commandOf(car.clock, 'Monitor', removal);
    await car.give(signed(command));
    await car.give(signed(command));
    go();
    await car.clock.settle(2, 1);
    expect(car.ran).toEqual(['Monitor']);
    expect(car.reports().map(({ status }) => status)).toEqual(['Accepted', 'Success']);
  });

  test('a command with a used counter is neither run nor answered', async () => {
    const { clock, give, reports, ran } = setUp();
    const command = commandOf(clock, 'Monitor', removal);
    await give(signed(command));
    await give(signed({ ...command, id: 'another' }));
    expect([ran.length, reports().length]).toEqual([1, 1]);
  });

  test('a command for the car is refused, and the refusal names the minimal mode', async () => {
    const { clock, give, reports, ran } = setUp();
    await give(signed(commandOf(clock, 'Doors', { state: 'Locked' })));
    expect(ran).toEqual([]);
    expect(reports()).toMatchObject([
      { type: 'Doors', status: 'Failed', detail: 'the agent is in its minimal mode: it crashed' },
    ]);
  });

  test('a command that the key may not send is refused', async () => {
    const { clock, give, reports, ran } = setUp({ kinds: ['Doors'] });
    await give(signed(commandOf(clock, 'Monitor', removal)));
    expect([ran, reports()[0]?.failureCause]).toEqual([[], 'MissingRights']);
  });

  test('a command from an unknown key, for another car or on another topic is not answered', async () => {
    const { clock, give, said, ran } = setUp();
    await give(signed(commandOf(clock, 'Monitor', removal), stranger.privateKey));
    await give(signed(commandOf(clock, 'Monitor', removal, { vin: 'VF3VGEBENCH000002' })));
    await give(Uint8Array.of(1, 2, 3));
    for (const kind of ['ack', 'watch', 'nothing']) {
      await give(signed(commandOf(clock, 'Monitor', removal)), `vigie/1/${VIN}/down/${kind}`);
    }
    expect([ran, said()]).toEqual([[], []]);
  });

  test.each([
    ['late', 'ntp', -60_000, -1],
    ['from a clock more than five minutes ahead', 'ntp', 300_100, 400_000],
    ['when the car does not know the time', 'none', 0, 30_000],
  ] as const)('a command is refused by the minimal agent: %s', async (_why, quality, issued, expires) => {
    const { clock, give, reports, ran } = setUp({ quality });
    const now = clock.now();
    await give(signed(commandOf(clock, 'Monitor', removal, { issued: now + issued, expires: now + expires })));
    expect([ran, reports().map(({ failureCause }) => failureCause)]).toEqual([[], ['VehicleConnectionTimeout']]);
  });

  test('a command that is valid for longer than 24 h is refused as WrongCommand', async () => {
    const { clock, give, reports, ran } = setUp({ quality: 'ntp' });
    const issued = clock.now();
    await give(signed(commandOf(clock, 'Monitor', removal, { issued, expires: issued + 86_400_001 })));
    expect([ran, reports().map(({ failureCause }) => failureCause)]).toEqual([[], ['WrongCommand']]);
  });

  test('a command runs at the very end of its validity, or if it arrives slightly early', async () => {
    const { clock, give, ran } = setUp();
    const now = clock.now();
    await give(signed(commandOf(clock, 'Monitor', removal, { issued: now - 30_000, expires: now + 10 })));
    await give(signed(commandOf(clock, 'Monitor', removal, { issued: now + 299_000, expires: now + 400_000 })));
    expect(ran).toHaveLength(2);
  });

  test('a failed command reports the reason', async () => {
    const failing = setUp({
      command: () => {
        throw new VigieError('command.forbidden', 'the last key stays');
      },
    });
    await failing.give(signed(commandOf(failing.clock, 'Monitor', removal)));
    expect(failing.reports()).toMatchObject([
      { status: 'Failed', failureCause: 'MissingRights', detail: expect.stringContaining('the last key stays') },
    ]);
  });

  test('commands are verified at five a second, the others wait, and each is answered', async () => {
    const { clock, reports, agent, link } = setUp();
    const commands = Array.from({ length: 13 }, () => commandOf(clock, 'Monitor', removal));
    for (const command of commands) agent.message(`vigie/1/${VIN}/down/remote`, signed(command), undefined);
    const ended = () => reports().filter(({ status }) => status === 'Success');
    for (const count of [5, 10, 13, 13]) {
      await clock.settle(20);
      // The broker accepts the two messages of each command.
      while (link.inFlight > 0) {
        link.acknowledge();
        await clock.settle(20);
      }
      expect(ended()).toHaveLength(count);
      clock.advance(1_000);
    }
    expect(ended().map(({ remoteActionId }) => remoteActionId)).toEqual(commands.map(({ id }) => id));
  });
});

test('a damaged ledger does not prevent repair once the time of the loss has passed', async () => {
  const { agent, clock, give, reports, ran, ledger } = setUp({ ledger: disk(undefined, 1) });
  agent.start();
  const before = signed(commandOf(clock, 'Monitor', removal));
  await clock.settle(2_000, 500);
  // This command may have run during the lost time.
  await give(before);
  expect([ran, reports()]).toEqual([[], []]);
  expect(ledger.data.doubtful).toBeUndefined();
  await clock.settle(301_000, 1_000);
  await give(signed(commandOf(clock, 'Monitor', removal)));
  expect([ran, reports().map(({ status }) => status)]).toEqual([['Monitor'], ['Success']]);
});

test('without the time a damaged ledger refuses commands and stays doubtful on disk', async () => {
  const { agent, clock, give, ran, ledger } = setUp({ ledger: disk(undefined, 1), quality: 'none' });
  agent.start();
  await clock.settle(2_000, 500);
  await give(signed(commandOf(clock, 'Monitor', removal)));
  expect([ran, ledger.data.doubtful]).toEqual([[], true]);
});

test('the minimal agent ticks every second until it is stopped', async () => {
  const { agent, clock, ticks } = setUp();
  agent.start();
  clock.advance(3_500);
  expect(ticks()).toBe(3);
  await agent.stop();
  clock.advance(5_000);
  expect([ticks(), clock.pending]).toEqual([3, 0]);
});

test('on stop it waits three seconds for the broker and accepts nothing more', async () => {
  const { agent, clock, give, ran, said } = setUp();
  agent.up();
  let stopped = false;
  const stopping = agent.stop().then(() => {
    stopped = true;
  });
  await clock.settle(2_990, 100);
  expect([stopped, agent.waiting]).toEqual([false, 1]);
  await give(signed(commandOf(clock, 'Monitor', removal)));
  agent.up();
  await clock.settle(20);
  await stopping;
  expect([ran, said().map(({ kind }) => kind), clock.pending]).toEqual([[], ['hello'], 0]);
});

test('on stop it does not wait longer than the broker needs', async () => {
  const { agent, clock, link } = setUp();
  agent.up();
  const stopping = agent.stop();
  link.acknowledge();
  await stopping;
  expect([agent.waiting, clock.pending]).toEqual([0, 0]);
});
