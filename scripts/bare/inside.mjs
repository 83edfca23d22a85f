/**
 * Actions of the ordinary user in the bare system, for index.ts. Plain JavaScript for the machine's Node, which may be
 * older than the project's. Arguments: a shell command that starts a bench, which must answer on its page, or ''; a
 * shell command for the tests; the arguments of that command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const project = join(homedir(), 'vigie');
const relay = createServer((socket) => {
  const registry = connect(join(import.meta.dirname, 'registry.sock'));
  for (const [from, to] of [
    [socket, registry],
    [registry, socket],
  ])
    from.on('error', () => to.destroy()).pipe(to);
});
relay.listen(0, '127.0.0.1');
await once(relay, 'listening');
const address = relay.address();
const env = {
  ...process.env,
  npm_config_registry: `http://127.0.0.1:${address.port}/`,
  npm_config_replace_registry_host: 'always',
  TEST_OUTCOMES: join(import.meta.dirname, 'outcomes'),
};

// Standard input closes when index.ts has ended, for whatever reason.
process.stdin.on('end', () => process.exit(1)).resume();

const [bench, tests, ...words] = process.argv.slice(2);
if (bench !== '' && !(await answersOnItsPage(bench))) {
  console.log('0 passed, 1 failed, 0 skipped');
  process.exit(1);
}
const child = spawn('sh', ['-c', tests, 'sh', ...words], {
  cwd: project,
  env,
  stdio: ['ignore', 'inherit', 'inherit'],
});
const [code] = await once(child, 'exit');
process.exit(code ?? 1);

/** Starts the bench, requests its page, and stops it as Ctrl-C does. */
async function answersOnItsPage(command) {
  const child = spawn('sh', ['-c', command], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let warnings = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    warnings += text;
    process.stderr.write(text);
  });
  const exited = once(child, 'exit');
  const page = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      console.log(line);
      const [, url] = /^The page: (\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    exited.then(() => resolve(undefined));
  });
  if (page === undefined) {
    console.error(`“${command}” ended before it had a page`);
    return false;
  }
  const answer = await fetch(page);
  const text = await answer.text();
  process.kill(-child.pid, 'SIGINT');
  await exited;
  if (warnings.includes('EBADENGINE')) {
    console.error(`“${command}” warns that packages need another Node, which the project brings`);
    return false;
  }
  if (answer.status === 200 && /<title>/.test(text)) return true;
  console.error(`the page at ${page} answered ${answer.status}: ${text.slice(0, 200)}`);
  return false;
}
