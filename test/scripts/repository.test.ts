/** Files for the repository host: workflows, templates, and the development container. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly run?: string; readonly uses?: string }[] }>
  >;
}

test('workflows run .ci/run and scripts of the project, and pin actions by version', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((name) => parse(read(name)) as Workflow);
  const steps = workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  expect(commands).toContain('.ci/run');
  const scripts = commands.flatMap((command) => /^npm run ([\w:-]+)/.exec(command)?.[1] ?? []);
  expect(scripts.length).toBeGreaterThan(0);
  for (const script of scripts) expect(Object.keys(manifest.scripts)).toContain(script);
  for (const { uses } of steps) expect(uses ?? 'a/b@v1').toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
});

test('each issue form has a required question', () => {
  for (const name of ['fault', 'car']) {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`));
    expect(Object.keys(form)).toEqual(['name', 'description', 'body']);
    const ids = form.body.flatMap(({ id }: { readonly id?: string }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(form.body.some((one: { validations?: { required: boolean } }) => one.validations?.required)).toBe(true);
  }
  expect(existsSync(join(root, '.github/pull_request_template.md'))).toBe(true);
});

test('the development container installs the project as the pages describe', () => {
  const container = JSON.parse(read('.devcontainer/devcontainer.json'));
  expect(container.postCreateCommand).toBe('npm ci');
  expect(container.image).toMatch(/^[\w./-]+:\d+/);
});
