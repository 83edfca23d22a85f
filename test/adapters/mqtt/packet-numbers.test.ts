/** Memory held after a packet was written. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('cached packet lengths do not keep slabs of the shared buffer pool in memory', () => {
  // In a separate process, because the package caches its numbers and functions for all tests in a process.
  const program = `
    import '../../../adapters/mqtt/index.ts';
    import { writeToStream } from 'mqtt-packet';
    const held = new Set();
    const sizes = [];
    for (let length = 1; length <= 300; length++) {
      const chunks = [];
      const stream = { write: (chunk) => chunks.push(chunk), cork() {}, uncork() {} };
      writeToStream({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(length), qos: 0 }, stream, { protocolVersion: 5 });
      const [, lengthBytes] = chunks;
      held.add(lengthBytes.buffer);
      sizes.push([...lengthBytes]);
    }
    const bytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
    console.log(JSON.stringify({ bytes, first: sizes[0], last: sizes.at(-1) }));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  // Each packet: topic length and topic, property length 0, payload. 304 = 48 + 2 × 128.
  expect(JSON.parse(printed)).toEqual({ bytes: 123 + 2 * 177, first: [5], last: [0xb0, 0x02] });
});
