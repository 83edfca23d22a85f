/** OpenAPI document that a hub serves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { EVENT_STREAM } from '../../../adapters/http/media.ts';
import { hubOperations } from '../../../hub/http/operations.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { bases } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-document-'));
let hub: Hub;
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> };

beforeAll(async () => {
  const data = join(folder, 'hub');
  hub = await startHub({ data, port: 0, http: 0, clock: new SystemClock(), log: new MemoryLog() });
  document = (await (await fetch(`${hub.interface.url}/openapi.json`)).json()) as typeof document;
});
afterAll(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the OpenAPI document has exactly the operations that the hub serves', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = [
    ...operations.map(({ method, side, path }) => `${method} ${bases[side]}${path}`),
    ...hubOperations.map(({ method, path }) => `${method} ${path}`),
    'GET /openapi.json',
  ];
  expect(described.sort()).toEqual(served.sort());
});

test('each server address in the document is one of the hub', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const [method = 'get'] = Object.keys(methods);
    const address = `${hub.interface.url}${path.replaceAll(/\{\w+\}/g, 'ab-0')}`;
    const response = await fetch(address, { method: method.toUpperCase() });
    if (response.headers.get('content-type') === EVENT_STREAM) {
      await response.body?.cancel();
      continue;
    }
    expect(await response.text(), `${method} ${path}`).not.toContain('there is nothing at this path');
  }
});

test('the OpenAPI document of a hub is valid', async () => {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const config = await createConfig({ extends: ['recommended-strict'], rules: { 'no-unused-components': 'off' } });
  const problems = await lint({ ref: file, config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
});
