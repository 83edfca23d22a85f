/** A hub starts while its broker still has a backlog of messages for it. */
import { expect, test } from 'vitest';
import { FleetReceiver, type FleetReceiverOptions } from '../../../hub/broker/fleet-receiver.ts';
import { type Answer, publishHead, ScriptedBroker } from '../../rig/script.ts';

const VIN = 'VF3VGEBACKLOG0001';
const REFUSED = 0x87;

/**
 * An MQTT 5 broker with one queued message in a persistent session. It acknowledges the claim of the name after that
 * message, with `code`.
 */
function keeping(code: number): { readonly answer: Answer; claimed(): boolean } {
  let claim: Uint8Array | undefined;
  const answer: Answer = (packet) => {
    const type = (packet[0] ?? 0) >> 4;
    const [, , high = 0, low = 0] = packet;
    if (type === 1) {
      return Buffer.concat([
        Uint8Array.of(0x20, 3, 1, 0, 0),
        publishHead(0b010, `vigie/1/${VIN}/up/telemetry`, 1),
        Uint8Array.of(0),
      ]);
    }
    if (type === 8) return Uint8Array.of(0x90, 4, high, low, 0, 1);
    if (type === 3) {
      const at = 4 + packet.readUInt16BE(2);
      claim = Uint8Array.of(0x40, 3, packet[at] ?? 0, packet[at + 1] ?? 0, code);
    }
    // Acknowledgement of the queued message.
    return type === 4 ? claim : undefined;
  };
  return { answer, claimed: () => claim !== undefined };
}

function optionsAt(url: string, accept: () => Promise<void>): FleetReceiverOptions & { displaced: unknown } {
  return {
    address: { url, protocol: 5 },
    group: 'fleet',
    name: 'one',
    identity: 'first',
    receiveMaximum: 10,
    accept,
    online: () => undefined,
    presence: () => undefined,
    known: async () => [],
    locks: { acquire: () => Promise.reject(new Error('unused')), place: async () => undefined },
    displaced: () => undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
}

/** A promise that the test resolves. */
function pending<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('a hub starts while its backlog arrives and claims its name after the backlog', async () => {
  const { answer, claimed } = keeping(0);
  const broker = await ScriptedBroker.open(answer);
  const disk = pending<void>();
  const receiver = await FleetReceiver.start(optionsAt(broker.url, () => disk.promise));
  disk.resolve();
  await receiver.stop();
  expect(claimed()).toBe(true);
  await broker.close();
});

test('a hub stops with the broker’s reason if the broker refuses its claim after the backlog', async () => {
  const broker = await ScriptedBroker.open(keeping(REFUSED).answer);
  const disk = pending<void>();
  const ended = pending<Error>();
  const options = { ...optionsAt(broker.url, () => disk.promise), displaced: ended.resolve };
  const receiver = await FleetReceiver.start(options);
  disk.resolve();
  expect(await ended.promise).toMatchObject({ code: 'link.refused' });
  await receiver.stop();
  await broker.close();
});
