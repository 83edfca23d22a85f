/** Users see which Node runs the agent and until when it is supported. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nodeName, supportEnd } from '../../assembly/node-lines.ts';
import { version } from '../../assembly/version.ts';

test('vigie --version prints its version, then the Node version with the end of its support', () => {
  const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [main, '--version'], { encoding: 'utf8' });
  expect(stdout).toBe(`${version}\n${nodeName(process.versions.node)}\n`);
  expect(stdout).toContain(`Node ${process.versions.node}`);
});

test('a Node version is printed with the end of support of its line, and an unknown line without one', () => {
  expect(nodeName('20.11.0')).toBe('Node 20.11.0, supported by nodejs.org until 2026-04-30');
  expect(nodeName('99.1.0')).toBe('Node 99.1.0');
  expect(supportEnd('24.21.0')).toBe('2028-04-30');
});
