/** Processing of the bundled script for an executable. */
import { compileFunction } from 'node:vm';
import { expect, test } from 'vitest';
import { withShortNames } from '../../../scripts/package/program.ts';

const script = `'use strict';
const measuredValue = 7;
const doubled = (givenValue) => givenValue * 2;
class SensorError extends Error {}
function refuse(wantedValue) {
  const localValue = doubled(wantedValue);
  throw new SensorError(\`\${localValue} — \${measuredValue}\`);
}
exports.found = { measuredValue, doubled, SensorError, refuse };
`;

function found(code: string): Record<string, unknown> {
  const exports = { found: {} };
  compileFunction(code, ['exports'])(exports);
  return exports.found;
}

test('variables and parameters are shortened, properties are not', () => {
  const short = withShortNames(script);
  for (const name of ['givenValue', 'wantedValue', 'localValue']) {
    expect(script).toContain(name);
    expect(short).not.toContain(name);
  }
  expect(short.length).toBeLessThan(script.length);
  expect(found(short)['measuredValue']).toBe(7);
  expect(Object.keys(found(short))).toEqual(Object.keys(found(script)));
});

test('stack traces and errors name functions and classes like the sources', () => {
  const { doubled, SensorError, refuse } = found(withShortNames(script)) as Record<string, CallableFunction>;
  expect([doubled?.name, SensorError?.name]).toEqual(['doubled', 'SensorError']);
  let refused: unknown;
  try {
    refuse?.(4);
  } catch (error) {
    refused = error;
  }
  const error = refused as Error;
  expect([error.message, error.constructor.name]).toEqual(['8 — 7', 'SensorError']);
  expect(error.stack).toMatch(/\bat refuse \(/);
});

test('an unreadable script is refused with the reason', () => {
  expect(() => withShortNames('const broken = ;')).toThrow(/the bundled script cannot be shortened: \S/);
});
