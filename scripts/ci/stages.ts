/** Stages of `.ci/run` in order; `--from` starts at one and runs the rest. */

/**
 * Stages of one lane run one after the other, and the lanes run in parallel. `machines` mostly waits for emulated
 * machines, which each keep one core busy; `tests` is CPU-bound.
 */
export const lanes = ['tests', 'machines'] as const;
export type Lane = (typeof lanes)[number];

export interface CiStage {
  readonly name: string;
  /** If omitted, the stage runs alone, before all stages after it in this list. */
  readonly lane?: Lane;
  readonly command: readonly [program: string, ...args: string[]];
  /** Environment variables in addition to those of `.ci/run`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** True if this stage skips tests that a later stage runs. */
  readonly partial?: boolean;
}

/** No test may be skipped: the stage `programs` installs all programs that tests need. */
const complete = { TEST_ALL: '1' };

export const stages: readonly CiStage[] = [
  { name: 'programs', command: ['sh', 'scripts/install-peers.sh'] },
  { name: 'check', command: ['npm', 'run', 'check'] },
  { name: 'tcu', lane: 'machines', command: ['npm', 'run', 'test:tcu'] },
  { name: 'can', lane: 'machines', command: ['npm', 'run', 'test:can'] },
  { name: 'package', lane: 'machines', command: ['npm', 'run', 'test:package'] },
  {
    name: 'node-red',
    lane: 'tests',
    command: ['npm', 'install', '--prefix', 'test/rig/node-red'],
    environment: complete,
  },
  { name: 'engines', lane: 'tests', command: ['npm', 'run', 'test:engines'], environment: complete },
  { name: 'page', lane: 'tests', command: ['npm', 'run', 'test:page'], environment: complete },
  { name: 'properties', lane: 'tests', command: ['npm', 'run', 'test:properties'], environment: complete },
  { name: 'bare', lane: 'tests', command: ['npm', 'run', 'test:bare'], partial: true },
  { name: 'bare-programs', lane: 'tests', command: ['npm', 'run', 'test:bare', '--', 'programs'], partial: true },
  // Runs the test files that have not passed completely in an earlier stage, such as `bare`.
  { name: 'test', lane: 'tests', command: ['npm', 'test'], environment: { ...complete, TEST_REST: '1' } },
];
