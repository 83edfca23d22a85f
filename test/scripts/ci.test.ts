/** The parts of `.ci/run` that measure and report, with real commands. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { report } from '../../scripts/ci/report.ts';
import { runStage, type StageResult } from '../../scripts/ci/run-stage.ts';
import { lanes, stages } from '../../scripts/ci/stages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function run(script: string, environment = {}): Promise<{ result: StageResult; lines: string[] }> {
  const lines: string[] = [];
  const stage = { name: 'tried', command: [process.execPath, '-e', script] } as const;
  const result = await runStage(stage, root, { ...process.env, ...environment }, (line) => lines.push(line));
  return { result, lines };
}

test('a stage reports the tests counted in its last line, its output and its processor time', async () => {
  const { result, lines } = await run(
    `
    const end = process.cpuUsage().user + 300_000;
    while (process.cpuUsage().user < end);
    console.log('1 passed, 0 failed, 0 skipped in this part');
    console.log('2 passed, 0 failed, 0 skipped');
    console.log(process.env.GIVEN + ' passed, 0 failed, 1 skipped');`,
    { GIVEN: '3' },
  );
  expect(result).toMatchObject({ status: 0, counts: { passed: 3, failed: 0, skipped: 1 } });
  expect(lines).toHaveLength(3);
  expect(result.processor).toBeGreaterThanOrEqual(0.3);
});

test('the report repeats the first lines of each failure, so that the end of a long output names the cause', async () => {
  const { result } = await run(`
    console.log('started');
    console.log('FAILED  a door opens\\nError: it is frozen');
    for (let line = 0; line < 50; line++) console.log('trace', line);
    console.log('\\x1b[41m FAIL \\x1b[49m a.test.ts > a light blinks');
    process.exitCode = 1;`);
  const lines = report([result], 1, []);
  expect(lines).toContain('[tried] FAILED  a door opens');
  expect(lines).toContain('[tried] Error: it is frozen');
  expect(lines).toContain('[tried]  FAIL  a.test.ts > a light blinks');
  expect(lines).not.toContain('[tried] started');
  expect(lines).not.toContain('[tried] trace 40');
});

test('a stage that fails, is killed or cannot start has a nonzero status', async () => {
  expect((await run('process.exit(7)')).result).toMatchObject({ status: 7 });
  expect((await run(`process.kill(process.pid, 'SIGKILL')`)).result.status).not.toBe(0);
  const absent = await runStage({ name: 'absent', command: ['no-such-program-of-ours'] }, root, process.env, () => {});
  expect(absent.status).not.toBe(0);
});

test('the report ends with a total in which a failed stage without tests counts as one failure and partial stages skip none', () => {
  const results: StageResult[] = [
    { name: 'check', failures: [], status: 1, wall: 61, processor: 90 },
    { name: 'page', failures: [], status: 0, wall: 10, processor: 5, counts: { passed: 7, failed: 0, skipped: 1 } },
    {
      name: 'bare',
      failures: [],
      status: 0,
      partial: true,
      wall: 10,
      processor: 5,
      counts: { passed: 3, failed: 0, skipped: 4 },
    },
    { name: 'test', failures: [], status: 1, wall: 10, processor: 5, counts: { passed: 20, failed: 2, skipped: 0 } },
  ];
  const files = Array.from({ length: 30 }, (_, index) => ({
    file: `${index}.test.ts`,
    seconds: index,
    failed: index === 4 ? ['a door opens', 'a door closes'] : [],
    skipped: 0,
  }));
  const lines = report(results, 81, files);
  expect(lines.at(-1)).toBe('30 passed, 3 failed, 1 skipped');
  expect(lines.at(-2)).toBe('.ci/run took 1.4 minutes');
  expect(lines).toContain('check           1:01     1:30   FAILED with status 1');
  expect(lines.filter((line) => line.endsWith('.test.ts'))).toHaveLength(20);
  expect(lines).toContain('failed: 4.test.ts: a door closes');
  expect(lines[1]).toBe('    29.0  29.test.ts');
});

test('an unknown stage after --from is refused with the names of all stages', () => {
  const script = fileURLToPath(new URL('../../scripts/ci/index.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, '--from', 'nothing'], { encoding: 'utf8' });
  expect(status).toBe(2);
  for (const { name } of stages) expect(stderr).toContain(name);
});

test('only partial stages may skip tests, and `npm test` runs last with all the tests that they skip', () => {
  const tests = stages.filter(({ lane }) => lane === 'tests');
  for (const { name, partial, environment } of tests) {
    expect(environment?.['TEST_ALL'], name).toBe(partial === true ? undefined : '1');
  }
  expect(tests.at(-1)).toMatchObject({ command: ['npm', 'test'], environment: { TEST_REST: '1' } });
});

test('stages have different names, and each lane has one', () => {
  expect(new Set(stages.map(({ name }) => name)).size).toBe(stages.length);
  for (const lane of lanes) expect(stages.some((stage) => stage.lane === lane)).toBe(true);
});
