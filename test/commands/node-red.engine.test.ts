/** The example flow of docs/exits.md in a real Node-RED locks a car on a real Mosquitto. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeNeeding } from '../needs.ts';
import { VigieProcess } from '../rig/bench.ts';
import { withFreePorts } from '../rig/daemon.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { findPeer } from '../rig/peers.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const program = pathOf('../rig/node-red/node_modules/node-red/red.js');
const flow = pathOf('../../config/node-red/lock.json');

const absence = existsSync(program)
  ? undefined
  : 'Node-RED is not installed; run npm install --prefix test/rig/node-red';
const missing = findPeer('mosquitto') === undefined ? 'mosquitto is not installed' : absence;

describeNeeding(missing === undefined, missing ?? '', 'Node-RED', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-node-red-'));
  const broker = new MosquittoRig();
  let bench: VigieProcess;
  let nodeRed: VigieProcess;
  let url: string;

  beforeAll(async () => {
    await broker.start();
    const car = ['--home-assistant', '--broker', broker.url, '--scenario', 'parked', '--data', join(folder, 'bench')];
    bench = new VigieProcess(['bench', ...car, '--http', '0']);
    await bench.says('Ctrl-C ends the bench.');
    const nodes = readFileSync(flow, 'utf8').replace('"port": "1883"', `"port": "${broker.port}"`);
    writeFileSync(join(folder, 'flows.json'), nodes);
    await withFreePorts(1, async ([port]) => {
      url = `http://127.0.0.1:${port}`;
      writeFileSync(
        join(folder, 'settings.cjs'),
        `module.exports = {
          uiHost: '127.0.0.1', uiPort: ${port}, disableEditor: true, telemetry: { enabled: false },
          externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
        };`,
      );
      const options = ['--userDir', folder, '--settings', join(folder, 'settings.cjs'), join(folder, 'flows.json')];
      nodeRed = new VigieProcess(options, program);
      await nodeRed.says('Started flows');
    });
  }, 120_000);
  afterAll(async () => {
    await nodeRed.end('SIGTERM');
    await bench.end('SIGINT');
    await broker.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Presses the button of the flow. Resolves when the flow has shown the answer. */
  async function press(button: 'lock' | 'unlock', answer: RegExp): Promise<void> {
    const from = nodeRed.output.length;
    expect((await fetch(`${url}/inject/vigie-${button}`, { method: 'POST' })).status).toBe(200);
    await nodeRed.says(answer, from);
  }

  test('a flow finds the announced lock, locks the car, and shows the state that the car reports', async () => {
    await nodeRed.says('Connected to broker');
    await press('unlock', /\[debug:answer\]\s+(already )?unlocked/);
    const from = bench.output.length;
    await press('lock', /\[debug:answer\]\s+locked/);
    await bench.says('command Doors: Success', from);
    await press('lock', /\[debug:answer\]\s+already locked/);
    await press('unlock', /\[debug:answer\]\s+unlocked/);
  }, 60_000);
});
