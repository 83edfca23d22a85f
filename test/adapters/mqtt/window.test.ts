/** The number of unacknowledged publishes on a link. */
import { expect, it } from 'vitest';
import { Car, message } from '../../rig/car.ts';
import { ScriptedBroker } from '../../rig/script.ts';

it("the link never exceeds the broker's Receive Maximum, and announces its own", async () => {
  const waiting: number[] = [];
  let most = 0;
  let connect: Buffer | undefined;
  const broker = await ScriptedBroker.open((packet, socket) => {
    const type = (packet[0] ?? 0) >> 4;
    if (type === 1) {
      connect = packet;
      // Accepted; Receive Maximum 3.
      return Uint8Array.of(0x20, 6, 0, 0, 3, 0x21, 0, 3);
    }
    if (type === 8) return Uint8Array.of(0x90, 4, packet[2] ?? 0, packet[3] ?? 0, 0, 1);
    if (type !== 3) return undefined;
    waiting.push(packet.readUInt16BE(4 + packet.readUInt16BE(2)));
    most = Math.max(most, waiting.length);
    // Acknowledge only after all publishes that may be sent together have arrived.
    if (waiting.length === 1) {
      setTimeout(() => {
        for (const id of waiting.splice(0)) socket.write(Uint8Array.of(0x40, 2, id >> 8, id & 0xff));
      }, 20);
    }
    return undefined;
  });
  const car = await new Car(broker.url, { closeTimeout: 200 }).start();
  expect(car.link.window).toBe(3);
  await Promise.all(Array.from({ length: 17 }, (_, i) => car.link.publish(message(`${i}`))));
  expect(most).toBe(3);
  expect(connect?.includes(Buffer.of(0x21, 0, 20))).toBe(true);
  await car.link.close();
  await broker.close();
});
