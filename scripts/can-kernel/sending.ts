/** Checks that can-utils read the frames that our code sends, and no others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { BIT_RATE_SWITCH, EXTENDED, FD, SENT } from '../../agent/ports.ts';
import { addInterface, Bus, type Checks, ip, pass, run, tc, until } from './rig.ts';

/** A candump process that runs in parallel and whose logged frames are collected. */
class Witness {
  readonly lines: string[] = [];
  readonly #program = spawn('candump', ['-L', 'vcan0'], { stdio: ['ignore', 'pipe', 'inherit'] });

  private constructor() {
    createInterface({ input: this.#program.stdout }).on('line', (line) => {
      this.lines.push(line.split(' ').slice(2).join(' '));
    });
  }

  /**
   * Resolves when candump receives frames from the bus.
   * @param asks if true, sends probe frames to find this out; if false, waits a fixed time
   */
  static async start(asks = true): Promise<Witness> {
    const witness = new Witness();
    if (!asks) {
      await pass(500);
      return witness;
    }
    await until(
      'candump',
      () => {
        run('cansend', 'vcan0', '000#');
        return witness.lines.length > 0;
      },
      () => 'it sees nothing',
    );
    // cansend may have ended before candump printed the frame.
    await pass(50);
    witness.lines.length = 0;
    return witness;
  }

  async seen(count: number): Promise<string[]> {
    await until(
      `${count} frames in candump`,
      () => this.lines.length >= count,
      () => this.lines.join(', '),
    );
    this.#program.kill();
    return this.lines;
  }
}

const actuation = { code: 'command.actuation' };
const frame = (id: number, text: string, flags = 0) => ({ bus: 'test', id, flags, data: Buffer.from(text, 'hex') });

export const sending: Checks = {
  'candump sees what is sent, classic and FD': async () => {
    const bus = await Bus.open();
    const witness = await Witness.start();
    const long = Array.from({ length: 64 }, (_, i) => (255 - i).toString(16).padStart(2, '0')).join('');
    await bus.can.send(frame(0x123, 'deadbeef'));
    await bus.can.send(frame(EXTENDED + 0x1abcdef0, '0102030405060708'));
    await bus.can.send(frame(0x7ff, ''));
    await bus.can.send(frame(0x456, long, FD | BIT_RATE_SWITCH));
    await bus.can.send(frame(EXTENDED + 0x12, long.slice(0, 24), FD));
    const lines = (await witness.seen(5)).map((line) => line.toLowerCase());
    await bus.can.stop();
    assert.deepEqual(lines, [
      '123#deadbeef',
      '1abcdef0#0102030405060708',
      '7ff#',
      // Versions of candump that know the FDF flag print it.
      lines[3]?.startsWith('456##5') ? `456##5${long}` : `456##1${long}`,
      lines[4]?.startsWith('00000012##4') ? `00000012##4${long.slice(0, 24)}` : `00000012##0${long.slice(0, 24)}`,
    ]);
    assert.equal(bus.count('sent'), 5);
  },

  'nothing is sent by reading': async () => {
    const witness = await Witness.start();
    const bus = await Bus.open();
    run('cansend', 'vcan0', '111#01');
    await bus.received(1);
    await bus.can.stop();
    assert.deepEqual(await witness.seen(1), ['111#01']);
  },

  'own frames do not come back; another socket of this process gets them': async () => {
    const [bus, other] = [await Bus.open(), await Bus.open()];
    await bus.can.send(frame(0x100, '01'));
    await other.received(1);
    run('cansend', 'vcan0', '101#02');
    await bus.received(1);
    await Promise.all([bus.can.stop(), other.can.stop()]);
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      [0x101],
    );
    assert.deepEqual(other.frames[0]?.flags, 0);
  },

  'own frames come back flagged where that is asked for': async () => {
    const bus = await Bus.open({ own: true });
    await bus.can.send(frame(0x100, '01'));
    run('cansend', 'vcan0', '101#02');
    const frames = await bus.received(2);
    await bus.can.stop();
    assert.deepEqual(
      frames.map(({ id, flags }) => [id, flags]),
      [
        [0x100, SENT],
        [0x101, 0],
      ],
    );
  },

  'a classic interface refuses FD frames and takes the others': async () => {
    addInterface('vcan1', 16);
    const bus = await Bus.open({ interface: 'vcan1' });
    await assert.rejects(bus.can.send(frame(1, '01', FD)), { ...actuation, message: /vcan1: .*FD/ });
    await bus.can.send(frame(1, '01'));
    await bus.can.stop();
    assert.deepEqual([bus.count('sent'), bus.count('refused')], [1, 1]);
  },

  'sending on an interface that is down or gone is refused with the reason': async () => {
    const bus = await Bus.open();
    ip('link set vcan0 down');
    await assert.rejects(bus.can.send(frame(1, '01')), { ...actuation, message: /vcan0: .*down/ });
    await bus.state('waiting');
    await assert.rejects(bus.can.send(frame(1, '01')), { ...actuation, message: /vcan0: .*down/ });
    ip('link delete vcan0');
    await until(
      'the reason',
      () => /no such interface/.test(bus.health.reason ?? ''),
      () => JSON.stringify(bus.health),
    );
    await assert.rejects(bus.can.send(frame(1, '01')), { ...actuation, message: /no such interface/ });
    await bus.can.stop();
  },

  'a full transmit queue is waited for, and not for ever': async () => {
    // A frame counts as 16 bytes: twenty per second pass, and two fit in the queue. One frame of each bus is in
    // transit.
    tc('qdisc add dev vcan0 root tbf rate 2560bit burst 16 limit 32 mtu 16');
    const buses = await Promise.all(Array.from({ length: 5 }, () => Bus.open()));
    const retries = (): number => buses.reduce((sum, bus) => sum + bus.count('retries'), 0);
    // With a slow emulator, the queue may become empty while it is being filled.
    for (let round = 0; round < 20 && retries() === 0; round++) {
      await Promise.all(buses.map((bus, i) => bus.can.send(frame(i, '01'))));
    }
    assert.ok(retries() > 0, 'the queue was never full');
    tc('qdisc replace dev vcan0 root tbf rate 8bit burst 16 limit 16 mtu 16');
    const [first, second, third] = buses as [Bus, Bus, Bus];
    await first.can.send(frame(1, '01'));
    await assert.rejects(second.can.send(frame(2, '01')), { ...actuation, message: /0x2 has not left/ });
    await assert.rejects(third.can.send(frame(3, '01')), { ...actuation, message: /queue stays full.*ENOBUFS/ });
  },

  'a frame that does not leave is the only one on its way, and is reported when it leaves late': async () => {
    // Lets one frame pass in sixteen seconds, as on a sleeping bus, where no node acknowledges frames.
    tc('qdisc add dev vcan0 root tbf rate 8bit burst 16 limit 1600 mtu 16');
    const bus = await Bus.open();
    const witness = await Witness.start(false);
    await bus.can.send(frame(1, '01'));
    await assert.rejects(bus.can.send(frame(2, '02')), { ...actuation, message: /vcan0: frame 0x2 has not left/ });
    for (const id of [3, 4]) {
      await assert.rejects(bus.can.send(frame(id, '03')), { ...actuation, message: /frame 0x2 has not left/ });
    }
    assert.deepEqual([bus.count('sent'), bus.count('overdue'), bus.count('late')], [1, 1, 0]);
    // The bus wakes up. The waiting frames are sent at the next check of the queue.
    tc('qdisc change dev vcan0 root tbf rate 1mbit burst 1600 limit 1600 mtu 16');
    run('cansend', 'vcan0', '7FF#');
    await until(
      'the late frame',
      () => bus.count('late') === 1,
      () => JSON.stringify(bus.health),
    );
    await bus.can.send(frame(5, '05'));
    assert.deepEqual(await witness.seen(4), ['001#01', '002#02', '7FF#', '005#05']);
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      [0x7ff],
    );
  },

  'an interface that was down and up has discarded what had not left': async () => {
    tc('qdisc add dev vcan0 root tbf rate 8bit burst 16 limit 1600 mtu 16');
    const bus = await Bus.open();
    await bus.can.send(frame(1, '01'));
    await assert.rejects(bus.can.send(frame(2, '02')), { ...actuation, message: /has not left/ });
    ip('link set vcan0 down');
    await bus.state('waiting');
    ip('link set vcan0 up');
    await bus.state('running');
    const witness = await Witness.start(false);
    await bus.can.send(frame(4, '04'));
    assert.deepEqual(await witness.seen(1), ['004#04']);
    assert.deepEqual([bus.count('overdue'), bus.count('late')], [1, 0]);
  },

  'what is sent comes back through filters that want other frames, which let it pass no longer than needed':
    async () => {
      const bus = await Bus.open({ identifiers: [0x101] });
      await bus.can.send(frame(0x100, '01'));
      await bus.can.send(frame(EXTENDED + 0x100, '01'));
      run('cansend', 'vcan0', '101#01');
      run('cansend', 'vcan0', '102#01');
      await bus.received(1);
      await pass(1_100);
      for (const text of ['101#02', '100#02', '101#03']) {
        run('cansend', 'vcan0', text);
        await pass(50);
      }
      await bus.received(3);
      assert.deepEqual(
        bus.frames.map(({ id, data }) => [id, data]),
        [
          [0x101, '01'],
          [0x101, '02'],
          [0x101, '03'],
        ],
      );
    },
};
