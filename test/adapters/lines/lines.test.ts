import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serialLine, tcpLine } from '../../../adapters/lines/index.ts';
import type { OpenLine } from '../../../agent/ports.ts';
import { describePeers } from '../../rig/peers.ts';
import { type PseudoTerminal, plugIn } from './pseudo-terminal.ts';
import { FarEnd, Heard } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code));

/** Checks the contract of the port. `lose` disconnects the far end, `restore` reconnects it. */
function contract(
  wire: () => { open: OpenLine; far: FarEnd; lose: () => Promise<void>; restore: () => Promise<void> },
) {
  it('carries every byte in both directions', async () => {
    const { open, far } = wire();
    const heard = new Heard();
    const line = await open(heard);
    await far.until(() => far.open === 1);
    far.say(everyByte);
    await line.write(bytes(everyByte));
    await heard.until(() => heard.text.length === 256);
    await far.until(() => far.received.length === 256);
    expect(heard.text).toBe(everyByte);
    expect(far.received).toBe(everyByte);
    await line.close();
    expect(heard.closings).toEqual([]);
  });

  it('reports its end once, and then refuses writes', async () => {
    const { open, far, lose } = wire();
    const heard = new Heard();
    const line = await open(heard);
    await far.until(() => far.open === 1);
    await lose();
    await heard.until(() => heard.closings.length > 0);
    await expect(line.write(bytes('x'))).rejects.toMatchObject({ code: 'input.unreadable' });
    await line.close();
    expect(heard.closings).toEqual([expect.stringMatching(/./)]);
  });

  it('fails to open if the far end is missing, and opens when it is back', async () => {
    const { open, far, lose, restore } = wire();
    const first = new Heard();
    await (await open(first)).write(bytes('1'));
    await far.until(() => far.received === '1');
    await lose();
    await expect(open(new Heard())).rejects.toMatchObject({ code: 'input.unreadable' });
    await restore();
    const second = new Heard();
    const line = await wire().open(second);
    await line.write(bytes('2'));
    await wire().far.until(() => wire().far.received.endsWith('2'));
    await line.close();
    expect(second.closings).toEqual([]);
  });

  it('can be closed twice', async () => {
    const line = await wire().open(new Heard());
    await line.close();
    await line.close();
    await expect(line.write(bytes('x'))).rejects.toMatchObject({ code: 'input.unreadable' });
  });
}

describe('a TCP line', () => {
  let far: FarEnd;
  beforeEach(async () => {
    far = await FarEnd.listen();
  });
  afterEach(() => far.close().catch(() => undefined));

  contract(() => {
    const { port } = far;
    return {
      far,
      open: tcpLine({ host: '127.0.0.1', port }),
      lose: () => far.close(),
      restore: async () => {
        far = await FarEnd.listen(port);
      },
    };
  });

  it('names the address if nothing listens there', async () => {
    const { port } = far;
    await far.close();
    await expect(tcpLine({ host: '127.0.0.1', port })(new Heard())).rejects.toThrow(
      `tcp://127.0.0.1:${port}: cannot be opened: no program listens there`,
    );
    far = await FarEnd.listen();
  });
});

describePeers(['socat', '/dev/ptmx'], 'a serial line', () => {
  let far: FarEnd;
  let device: PseudoTerminal;
  const path = join(folder, 'tty');
  beforeEach(async () => {
    far = await FarEnd.listen();
    device = await plugIn(path, far.port);
  });
  afterEach(async () => {
    await device.unplug();
    await far.close();
  });

  contract(() => ({
    far,
    open: serialLine({ path, baudRate: 38_400 }),
    lose: () => device.unplug(),
    restore: async () => {
      device = await plugIn(path, far.port);
    },
  }));

  it('accepts any speed and flow control', async () => {
    for (const options of [{ baudRate: 9_600, flowControl: 'xonxoff' } as const, { baudRate: 3_000_000 }]) {
      const heard = new Heard();
      const line = await serialLine({ path, ...options })(heard);
      far.say('here');
      await heard.until(() => heard.text === 'here');
      await line.close();
    }
  });

  it.each([
    [join(folder, 'absent'), /absent: cannot be opened: there is no such device or file; is it plugged in\?/],
    ['/dev/null', /\/dev\/null: cannot be opened: /],
    [folder, /cannot be opened: /],
  ])('%s is refused', async (other, message) => {
    await expect(serialLine({ path: other, baudRate: 9_600 })(new Heard())).rejects.toThrow(message);
  });
});
