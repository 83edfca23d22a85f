/** Commands to the agent itself, for keys and monitors: signed and stored like any other. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type TrustChanges, TrustStore } from '../../../adapters/keys/index.ts';
import { keyIdOf } from '../../../adapters/keys/trust-file.ts';
import type { Document } from '../../../agent/ports.ts';
import type { AgentCommand } from '../../../agent/remotes/agent-command.ts';
import { resendCommand } from '../../../agent/remotes/resend.ts';
import { trustCommand } from '../../../agent/remotes/trust.ts';
import { type CommandBodyKind, decodeBody, encodeCommand } from '../../../protocol/command.ts';
import { EDDSA, encodeSigned } from '../../../protocol/cose.ts';
import type { CommandKind } from '../../../protocol/schema/remote.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { carOf, commandOf, disk } from './rig.ts';

function signerOf(kinds: readonly string[]) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const keyId = keyIdOf(publicKey);
  const der = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }));
  return { keyId, kinds, der, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
}
type Signer = ReturnType<typeof signerOf>;

function changesOf(): Document<TrustChanges> {
  const document = {
    data: {} as TrustChanges,
    write: async (next: TrustChanges) => {
      document.data = next;
    },
  };
  return document;
}

/** A car that trusts one root key from its factory configuration. */
async function carWith(root: Signer, more: Readonly<Record<string, AgentCommand>> = {}) {
  const clock = new VirtualClock();
  const trust = TrustStore.without(clock, { changes: changesOf() });
  await trust.add({ name: 'root', publicKey: root.der, kinds: root.kinds });
  const agentCommands = new Map<CommandKind, AgentCommand>([
    ['Trust', trustCommand(trust)],
    ...(Object.entries(more) as [CommandKind, AgentCommand][]),
  ]);
  const car = carOf({ clock, verifier: trust, agentCommands });
  const order = async (by: Signer, kind: CommandBodyKind, body: object): Promise<string[]> => {
    const from = car.reports.length;
    const command = encodeCommand(commandOf(clock, kind, body));
    await car.give(encodeSigned(command, { algorithm: EDDSA, keyId: by.keyId }, by.sign));
    return car.reports.slice(from).map(({ status, failureCause }) => failureCause ?? status);
  };
  return { ...car, trust, order };
}

const lock = { state: 'Locked' };

test('a collect command needs a key with its own right', async () => {
  const [root, other] = [signerOf(['Trust', 'Collect']), signerOf(['Monitor', 'Resend', 'Doors'])];
  const asked: string[] = [];
  const car = await carWith(root, {
    Collect: async (body) => void asked.push(decodeBody('Collect', body).name),
  });
  const key = { name: 'other', publicKey: other.der, kinds: other.kinds };
  expect(await car.order(root, 'Trust', { add: key })).toEqual(['Success']);
  const order = { name: 'test', signals: [{ signal: 'MOTION.Torque' }], until: 1_900_000_000_000 };
  expect(await car.order(other, 'Collect', order)).toEqual(['MissingRights']);
  expect(await car.order(root, 'Collect', order)).toEqual(['Success']);
  expect(asked).toEqual(['test']);
});

test('a command to the agent whose first state is written when the agent stops does not begin', async () => {
  const document = disk();
  const ordered: string[] = [];
  const agentCommand: AgentCommand = async () => void ordered.push('begun');
  const clock = new VirtualClock();
  const car = carOf({
    clock,
    agentCommands: new Map([['Doors', agentCommand]]),
    document: {
      get data() {
        return document.data;
      },
      write: async (next) => {
        car.remotes.stop();
        await document.write(next);
      },
    },
  });
  await car.order('Doors', lock);
  expect(ordered).toEqual([]);
  const next = carOf({ clock, document });
  await next.remotes.resume();
  expect(next.reports.map(({ status, failureCause }) => failureCause ?? status)).toEqual(['VehicleError']);
});

describe('commands about keys', () => {
  test('a root key adds a key, which has its rights until it is revoked', async () => {
    const [root, owner] = [signerOf(['Trust']), signerOf(['Doors'])];
    const { order, actuated, remotes } = await carWith(root);
    expect(await order(owner, 'Doors', lock)).toEqual([]);
    expect(remotes.intake.unanswered).toBe(1);
    const key = { name: 'owner', publicKey: owner.der, kinds: ['Doors'] };
    expect(await order(root, 'Trust', { add: key })).toEqual(['Success']);
    expect((await order(owner, 'Doors', lock)).at(-1)).toBe('Success');
    expect(await order(owner, 'Trust', { revoke: root.keyId })).toEqual(['MissingRights']);
    expect(await order(owner, 'Horn', { state: 'Activated' })).toEqual(['MissingRights']);
    expect(await order(root, 'Trust', { revoke: owner.keyId })).toEqual(['Success']);
    expect(await order(owner, 'Doors', { state: 'Unlocked' })).toEqual([]);
    expect(actuated).toEqual(['doors.lock']);
  });

  test('a failed key command reports why and changes nothing', async () => {
    const root = signerOf(['Trust']);
    const { order, reports, trust } = await carWith(root);
    expect(await order(root, 'Trust', { revoke: root.keyId })).toEqual(['MissingRights']);
    expect(reports.at(-1)?.detail).toContain('add another first');
    expect(await order(root, 'Trust', {})).toEqual(['WrongCommand']);
    expect(trust.key(root.keyId)?.kinds).toEqual(['Trust']);
  });
});

test('resend needs its own right, and a run must not end before it begins', async () => {
  const [owner, hub] = [signerOf(['Trust', 'Doors']), signerOf(['Resend'])];
  const repeated: unknown[] = [];
  const { order, trust, reports } = await carWith(owner, {
    Resend: resendCommand((numbers) => repeated.push(numbers)),
  });
  await trust.add({ name: 'hub', publicKey: hub.der, kinds: hub.kinds });
  const body = { class: 5, numbers: [[3, 7]] };
  expect(await order(owner, 'Resend', body)).toEqual(['MissingRights']);
  expect(await order(hub, 'Resend', { class: 5, numbers: [[7, 3]] })).toEqual(['WrongCommand']);
  expect(reports.at(-1)?.detail).toContain('7 to 3');
  expect(repeated).toEqual([]);
  expect(await order(hub, 'Resend', body)).toEqual(['Success']);
  expect(repeated).toEqual([body]);
});

test('a command kind without a handler is refused', async () => {
  const root = signerOf(['Trust', 'Monitor']);
  const { order } = await carWith(root);
  expect(await order(root, 'Monitor', { monitorId: 'a', remove: true })).toEqual(['WrongCommand']);
});

test('a handler that throws makes its command fail', async () => {
  const root = signerOf(['Trust', 'Monitor']);
  const { order } = await carWith(root, {
    Monitor: async () => {
      throw new Error('a defect');
    },
  });
  expect(await order(root, 'Monitor', { monitorId: 'a', remove: true })).toEqual(['GeneralError']);
});

test('a command is stored with its counter before it runs; after a cut it is reported and not repeated', async () => {
  const root = signerOf(['Monitor']);
  const seen: string[] = [];
  const more: Readonly<Record<string, AgentCommand>> = {
    Monitor: async () => void seen.push(JSON.stringify(car.document.data)),
  };
  const car: Awaited<ReturnType<typeof carWith>> = await carWith(root, more);
  expect(await car.order(root, 'Monitor', { monitorId: 'a', remove: true })).toEqual(['Success']);
  const cut = JSON.parse(seen[0] ?? '{}') as typeof car.document.data;
  expect(cut.actions).toMatchObject([{ type: 'Monitor', status: 'Accepted' }]);
  expect(Object.keys(cut.counters)).toHaveLength(1);
  const next = carOf({ document: disk(cut) });
  await next.remotes.resume();
  expect(next.reports).toMatchObject([{ type: 'Monitor', status: 'Failed' }]);
});
