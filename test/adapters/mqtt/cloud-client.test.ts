import { expect, it } from 'vitest';
import { CloudClient } from '../../../adapters/mqtt/index.ts';
import { cloudClientContract } from '../../contracts/cloud-client.ts';
import { AedesRig } from '../../rig/aedes.ts';
import { publishHead, ScriptedBroker } from '../../rig/script.ts';

cloudClientContract('the cloud client over the embedded broker', () => new AedesRig(), 4);

it('messages between the acknowledgement of a subscription and that of its end are received', async () => {
  const [topic, payload] = ['cars/one', Buffer.from('late')];
  // MQTT 5; the zero before the payload is the length of the properties.
  const retained = Buffer.concat([publishHead(0b0011, topic, 1 + payload.length), Buffer.of(0), payload]);
  const broker = await ScriptedBroker.open((packet) => {
    const [type, high = 0, low = 0] = [(packet[0] ?? 0) >> 4, packet[2], packet[3]];
    if (type === 1) return Uint8Array.of(0x20, 3, 0, 0, 0);
    if (type === 8) return Uint8Array.of(0x90, 4, high, low, 0, 1);
    if (type === 10) return Buffer.concat([retained, Buffer.of(0xb0, 4, high, low, 0, 0)]);
    return undefined;
  });
  const client = await CloudClient.connect(broker.url);
  const received: string[] = [];
  const subscription = await client.subscribe('cars/#', (at, bytes) => {
    received.push(`${at} ${Buffer.from(bytes)}`);
  });
  await subscription.close();
  expect(received).toEqual(['cars/one late']);
  await client.close();
  await broker.close();
});
