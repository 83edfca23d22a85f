/** State of the registry as a hub sees it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RegistryStates } from '../../../hub/core/registry-state.ts';
import { openRegistry } from '../../../hub/start/registry.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE } from '../messages.ts';

const data = mkdtempSync(join(tmpdir(), 'vigie-registry-state-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

test('a hub reachable from other machines refuses everyone after its registry has been removed', async () => {
  const { registry, close } = await openRegistry({ data }, new MemoryLog());
  const [local, exposed] = [new RegistryStates(registry), new RegistryStates(registry, true)];
  await registry.add(ONE, [{ kind: 'fleet', id: 'north' }], NOON);
  for (const states of [local, exposed]) expect((await states.current()).isActive(ONE)).toBe(true);
  await registry.end(NOON);
  expect((await local.current()).inUse).toBe(false);
  const closed = await exposed.current();
  expect([closed.inUse, closed.isActive(ONE)]).toEqual([true, false]);
  await close();
});
