import { expect, test } from 'vitest';
import { type CommandKey, HubCommands } from '../../../hub/core/commands.ts';
import type { CommandStore, KeptCommand, NewCommand } from '../../../hub/core/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { HelloKey } from '../../../protocol/schema/hello.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE } from '../messages.ts';

/** A store that adds one command at a time. The test decides when each commit ends. */
class Trail implements Pick<CommandStore, 'add' | 'pending' | 'answeredKey' | 'trustedKeys'> {
  readonly kept: KeptCommand[] = [];
  answered: string | undefined;
  trusted: readonly HelloKey[] | undefined;
  commit: Promise<void> = Promise.resolve();

  async add(command: NewCommand, seal: (counter: number) => Uint8Array) {
    await this.commit;
    const known = this.kept.find(({ id }) => id === command.id);
    if (known !== undefined) return { kept: known, isNew: false };
    const kept = { ...command, counter: this.kept.length, signed: seal(this.kept.length), states: [] };
    this.kept.push(kept);
    return { kept, isNew: true };
  }

  async answeredKey(): Promise<string | undefined> {
    return this.answered;
  }

  async trustedKeys(): Promise<readonly HelloKey[] | undefined> {
    return this.trusted;
  }

  async pending(): Promise<readonly KeptCommand[]> {
    return this.kept;
  }
}

function begin(publish?: () => Promise<void>, ids: readonly [string, ...string[]] = ['aa']) {
  const store = new Trail();
  const log = new MemoryLog();
  const sent: { readonly topic: string; readonly payload: Uint8Array }[] = [];
  const commands = new HubCommands({
    store,
    keys: () => ids.map((id) => ({ id, sign: (payload: Uint8Array) => payload })) as [CommandKey],
    clock: { now: () => NOON },
    log,
    publish: async (topic, payload) => {
      await publish?.();
      sent.push({ topic, payload });
    },
  });
  const lock = (id: string) =>
    commands.submit({ id, vin: ONE, type: 'Doors', body: { state: 'Locked' }, caller: 'somebody' });
  return { store, log, sent, commands, lock };
}

test('a command is sent only after it is stored in the audit trail', async () => {
  const { store, sent, lock } = begin();
  let end: () => void = () => undefined;
  store.commit = new Promise((resolve) => {
    end = resolve;
  });
  const given = lock('a1');
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  end();
  const kept = await given;
  expect(kept).toMatchObject({ caller: 'somebody', requested: NOON, expires: NOON + 120_000, key: 'aa' });
  expect(sent).toEqual([{ topic: `vigie/1/${ONE}/down/remote`, payload: kept.signed }]);
});

test('a repeated id sends nothing; commands that wait for a car are sent when it subscribes', async () => {
  const { sent, lock, commands } = begin();
  await lock('a1');
  await lock('a1');
  expect(sent).toHaveLength(1);
  await commands.resend(ONE);
  expect(sent).toHaveLength(2);
});

test('a command stays pending and is logged if the broker refuses it', async () => {
  let down = true;
  const { sent, lock, log, commands } = begin(async () => {
    if (down) throw new VigieError('link.lost', 'no broker');
  });
  await lock('a1');
  expect(sent).toEqual([]);
  expect(log.lines).toMatchObject([{ level: 'warn', event: 'hub.command.unsent', fields: { id: 'a1' } }]);
  down = false;
  await commands.resend(ONE);
  expect(sent).toHaveLength(1);
});

test('a command body of the wrong form is refused before anything is stored', async () => {
  const { store, commands } = begin();
  const order = { id: 'a1', vin: ONE, type: 'Doors' as const, body: { state: 'Ajar' }, caller: 'somebody' };
  await expect(commands.submit(order)).rejects.toMatchObject({ code: 'command.malformed' });
  expect(store.kept).toEqual([]);
});

test.each([
  ['the first key', undefined, 'aa'],
  ['the key of the command that the car answered last', 'bb', 'bb'],
  ['the first key if the answered one is no longer in use', 'cc', 'aa'],
])('of several keys, a command is signed with %s', async (_, answered, key) => {
  const { store, lock } = begin(undefined, ['aa', 'bb']);
  store.answered = answered;
  expect(await lock('a1')).toMatchObject({ key });
});

test('the first key of the hub that the car trusts for the kind signs, whatever the car answered last', async () => {
  const { store, lock } = begin(undefined, ['aa', 'bb', 'cc']);
  store.answered = 'aa';
  store.trusted = [
    { id: 'aa', kinds: ['Horn'] },
    { id: 'cc', kinds: ['Doors'] },
    { id: 'bb', kinds: ['Horn', 'Doors'] },
  ];
  expect(await lock('a1')).toMatchObject({ key: 'bb' });
});

test.each([
  ['no key', [], 'trusts no key for Doors'],
  ['only a foreign key', [{ id: 'ff', kinds: ['Doors'] }], 'trusts ff for Doors'],
  ['the key for other kinds', [{ id: 'aa', kinds: ['Horn'] }], 'trusts no key for Doors'],
] as const)(
  'a command to a car that trusts %s is refused with both sides named, and not stored',
  async (_, keys, why) => {
    const { store, lock, log, commands, sent } = begin(undefined, ['aa', 'bb']);
    store.trusted = keys.map(({ id, kinds }) => ({ id, kinds: [...kinds] }));
    const message = expect.stringMatching(new RegExp(`${why}, but this hub signs with aa, bb: copy keys/trust.json`));
    await expect(lock('a1')).rejects.toMatchObject({ code: 'command.untrusted', message });
    expect([store.kept, sent]).toEqual([[], []]);
    expect(await commands.untrusted(ONE, 'Doors')).toEqual(message);
    const own = { id: 'a2', vin: ONE, type: 'Doors' as const, body: { state: 'Locked' }, caller: 'hub' };
    expect(await commands.submitOwn(own)).toBe(false);
    expect(log.lines).toMatchObject([
      { level: 'warn', event: 'hub.command.untrusted', fields: { vin: ONE, type: 'Doors' } },
    ]);
  },
);
