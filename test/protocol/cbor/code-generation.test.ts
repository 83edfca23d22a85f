import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Program of the child process, in which a flag makes `new Function` and `eval` throw. */
const program = `
  import { decodeMessage, encodeMessage } from './protocol/cbor/message.ts';
  let allowed = true;
  try { new Function(''); } catch { allowed = false; }
  const message = { version: 1, kind: 'hello', seq: 1, boot: 1, at: 1000, clock: 'none',
    body: { version: '1', protocol: 1, boot: 1, profile: 'p', startedAt: 990 } };
  const results = [];
  for (let i = 0; i < 20; i++) results.push(JSON.stringify(decodeMessage(encodeMessage(message))));
  console.log(JSON.stringify({ allowed, same: results.every((text) => text === JSON.stringify(message)) }));
`;

test('messages can be encoded and decoded if code generation from strings is disallowed', () => {
  const output = execFileSync(
    process.execPath,
    [
      '--disallow-code-generation-from-strings',
      '--experimental-strip-types',
      '--no-warnings',
      '--input-type=module',
      '-e',
      program,
    ],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)), encoding: 'utf8' },
  );
  expect(JSON.parse(output)).toEqual({ allowed: false, same: true });
});
