/** Checks multi-frame messages in both directions. Each frame is sent only when the previous one has left. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { CandumpRecorder } from '../../adapters/can/log/index.ts';
import { SocketCan } from '../../adapters/can/socketcan/index.ts';
import { IsoTp } from '../../adapters/obd/isotp/index.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { type Checks, clock, run, until } from './rig.ts';

const VIN = 'VF3AB12CD34567890';
const [REQUEST, ANSWER] = [0x7e0, 0x7e8];
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');

/** A control unit whose VIN can be read and written (ISO 14229-1 ReadDataByIdentifier, WriteDataByIdentifier F190). */
class ControlUnit {
  readonly can = new SocketCan({ interface: 'vcan0', bus: 'unit', clock });
  #vin = '';
  #written = '';

  async start(): Promise<void> {
    await this.can.start(({ count, id, offset, length, data }) => {
      for (let i = 0; i < count; i++) {
        const begin = offset[i] as number;
        if (id[i] === REQUEST) this.#frame(hex(data.subarray(begin, begin + (length[i] as number))));
      }
    });
  }

  #frame(text: string): void {
    if (text.startsWith('1014')) {
      this.#written = text.slice(4);
      this.#send('30 00 00');
    } else if (text.startsWith('2')) {
      this.#written += text.slice(2);
      if (this.#written.length < 40) return;
      this.#vin = this.#written.slice(6, 40);
      this.#send('03 6E F1 90');
    } else if (text.startsWith('0322f190')) this.#send(`10 14 62 F1 90 ${this.#vin.slice(0, 6)}`);
    else if (text.startsWith('30')) this.#send(`21 ${this.#vin.slice(6, 20)}`, `22 ${this.#vin.slice(20)}`);
  }

  #send(...frames: readonly string[]): void {
    for (const text of frames) {
      this.can
        .send({ bus: 'unit', id: ANSWER, flags: 0, data: bytes(text) })
        .catch((error: unknown) => console.log(`the control unit cannot answer: ${String(error)}`));
    }
  }
}

export const diagnostics: Checks = {
  'messages of several frames are sent and received, and recorded': async () => {
    const unit = new ControlUnit();
    await unit.start();
    const folder = '/run/recording';
    const recorder = new CandumpRecorder({ folder, size: 1 << 20, keep: 2, log: console });
    const can = new SocketCan({ interface: 'vcan0', bus: 'test', clock });
    const isotp = new IsoTp({ clock, sender: can, bus: 'test', index: 0 });
    let heard = 0;
    await can.start((batch: FrameBatch) => {
      heard += batch.count;
      recorder.write(batch, can.buses);
      isotp.receive(batch);
    });
    try {
      // No requests are sent on a sleeping bus: a frame shows that this bus is awake.
      run('cansend', 'vcan0', '123#01');
      await until(
        'a frame',
        () => heard > 0,
        () => 'none',
      );
      const address = { request: REQUEST, extended: false, response: ANSWER };
      const asked = async (payload: Uint8Array): Promise<string[]> =>
        (await isotp.request({ address, payload, timeout: 2_000 })).map((answer) => hex(answer.payload));
      const vin = hex(Buffer.from(VIN));
      assert.deepEqual(await asked(bytes(`2E F1 90 ${vin}`)), ['6ef190']);
      assert.deepEqual(await asked(bytes('22 F1 90')), [`62f190${vin}`]);
      assert.equal(can.health().counts['sent'], 5);
    } finally {
      isotp.close();
      await Promise.all([can.stop(), unit.can.stop()]);
      recorder.close();
    }
    const recorded = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
    const identifiers = [...recorded.join('').matchAll(/ (\w+)#/g)].map(([, id]) => id);
    assert.deepEqual(identifiers, ['123', '7E8', '7E8', '7E8', '7E8', '7E8']);
  },
};
