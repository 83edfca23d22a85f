/** The parts of `npm run test:bare` that need no root. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { serveRegistry } from '../../scripts/bare/registry.ts';
import { filesThatAsk } from '../../scripts/test-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the files that need a program are found by their calls, without engine and browser tests', () => {
  const files = filesThatAsk(root);
  for (const name of ['adapters/lines/lines', 'adapters/can/socketcan/layouts', 'adapters/service/notify']) {
    expect(files).toContain(`test/${name}.test.ts`);
  }
  expect(files).not.toContain('test/rig/peers.ts');
  expect(files.filter((name) => /\.(engine|browser|long)\.test\.ts$/.test(name))).toEqual([]);
});

test('the registry proxy returns the machine’s registry answers under its own address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-bare-'));
  const asked: (string | undefined)[] = [];
  const real = createServer(({ url, headers }, response) => {
    asked.push(url, headers.accept);
    response.writeHead(url?.endsWith('absent') ? 404 : 200, { 'content-type': 'application/json' }).end('{"name":"x"}');
  });
  real.listen(0, '127.0.0.1');
  await once(real, 'listening');
  const socketPath = join(folder, 'socket');
  const served = await serveRegistry(socketPath, `http://127.0.0.1:${(real.address() as AddressInfo).port}/npm`);
  const ask = async (path: string) => {
    const [response] = await once(
      request({ socketPath, path, headers: { accept: 'application/x' } }).end(),
      'response',
    );
    return [response.statusCode, response.headers['content-type'], await text(response)];
  };
  try {
    expect(await ask('/@scope%2fx')).toEqual([200, 'application/json', '{"name":"x"}']);
    expect((await ask('/absent'))[0]).toBe(404);
    expect(asked).toEqual(['/npm/@scope%2fx', 'application/x', '/npm/absent', 'application/x']);
  } finally {
    served.close();
    real.close();
    rmSync(folder, { recursive: true });
  }
});
