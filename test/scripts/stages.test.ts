import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parts, timesOf } from '../../scripts/benchmark/stages.ts';

const root = new URL('../../', import.meta.url).href;
const node = (id: number, functionName: string, file: string, ...children: number[]) => ({
  id,
  callFrame: { functionName, url: file === '' ? '' : root + file },
  children,
});

test('a profiler sample counts for the agent part of the nearest function on its stack', () => {
  const nodes = [
    node(1, '(root)', '', 2, 7, 8, 9),
    node(2, 'replay', 'commands/replay.ts', 3),
    node(3, 'take', 'agent/agent.ts', 4, 6),
    node(4, 'tick', 'agent/recorders/status.ts', 5),
    // A function of Node, called by the codec.
    node(5, 'encode', 'protocol/cbor/codec.ts', 10),
    node(6, 'changed', 'agent/recorders/trip.ts'),
    node(7, '(garbage collector)', ''),
    node(8, 'loadVehicle', 'assembly/vehicle.ts'),
    node(9, '(program)', ''),
    node(10, 'fromCharCode', ''),
  ];
  const samples = [10, 5, 6, 4, 7, 8, 9, 2, 6];
  // Another program ran between the last two samples.
  const times = timesOf({ nodes, samples, timeDeltas: [200, 100, 100, 50, 70, 30, 20, 10, 90_000] });
  expect(Object.fromEntries(times)).toEqual({
    'messages: CBOR, deflate': 300,
    trips: 500,
    'the published Status, as an object': 50,
    'collecting garbage': 70,
    'start: loading the program and the profile, until the first frame': 30,
    'Node and the compiler': 20,
    'the tick, the clock, readings that were refused': 10,
  });
});

test('each part of the agent has files that no part before it has', () => {
  const files = globSync('{adapters,agent,assembly,commands,protocol}/**/*.ts', {
    cwd: new URL('../../', import.meta.url),
  });
  for (const [name] of parts) {
    const own = files.filter((file) => parts.find(([, pattern]) => pattern.test(file))?.[0] === name);
    expect(own, name).not.toEqual([]);
  }
});
