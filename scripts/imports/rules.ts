/** The rooms of the project, and which other rooms each may import. `npm run check` refuses every other import. */

export interface Room {
  /** Short description of what the room contains. */
  readonly holds: string;
  /** Rooms that its files may import in addition to their own room or their folder of `adapters/*`; `any` for tools. */
  readonly imports: readonly string[] | 'any';
  /** Packages that its files may import. If omitted, all packages that package.json declares. */
  readonly packages?: readonly string[];
  /** If true, the room runs anywhere: its files import no module of Node. */
  readonly withoutNode?: true;
}

/** Rooms by folder path. Each folder of `adapters/*` is a separate room, so no adapter imports another one. */
export const rooms: Readonly<Record<string, Room>> = {
  'main.ts': { holds: 'the program, one line', imports: ['commands'] },
  commands: {
    holds: 'the command line: one file per command, options, printing, signals',
    imports: ['hub/start', 'hub/http', 'hub/core', 'assembly', 'config', 'adapters/*', 'agent', 'protocol'],
  },
  'hub/start': {
    holds: 'builds a hub from its parts and those that it shares with a car',
    imports: [
      ...['hub/http', 'hub/broker', 'hub/database', 'hub/core'],
      ...['assembly', 'config', 'adapters/*', 'agent', 'protocol'],
    ],
  },
  'hub/http': {
    holds: 'routes and metrics that only a hub has, and access to it',
    imports: ['hub/core', 'adapters/http', 'adapters/service', 'agent', 'protocol'],
  },
  'hub/broker': {
    holds: 'receives the messages of all cars from a broker',
    imports: ['hub/core', 'adapters/mqtt', 'protocol'],
  },
  'hub/database': {
    holds: 'tables and queries of a hub, in SQLite and PostgreSQL',
    imports: ['hub/core', 'agent', 'protocol'],
  },
  'hub/core': {
    holds: 'the core of the server side; its only way out is `hub/core/ports.ts`',
    imports: ['protocol'],
    packages: [],
    withoutNode: true,
  },
  assembly: {
    holds: 'builds the agent from its parts; reads no command line and prints nothing',
    imports: ['config', 'adapters/*', 'agent', 'protocol', 'package.json'],
  },
  'adapters/*': { holds: 'one folder for each thing outside the core', imports: ['agent', 'protocol'] },
  config: { holds: 'configuration and profile format, defaults, shipped profiles', imports: ['protocol'] },
  agent: {
    holds: 'the core of a car: Status, recorders, outbox, commands; its only way out is `agent/ports.ts`',
    imports: ['protocol'],
    packages: [],
    withoutNode: true,
  },
  page: {
    holds: 'starts the page of a car, of a bench or of a hub in a browser',
    imports: ['page/hub', 'page/car', 'page/shared', 'protocol'],
    packages: ['preact', 'uplot'],
    withoutNode: true,
  },
  'page/hub': {
    holds: 'the page of a hub; it shows one car by the views of that car',
    imports: ['page/car', 'page/shared', 'protocol'],
    packages: ['preact', 'uplot'],
    withoutNode: true,
  },
  'page/car': {
    holds: 'the page of a car and of a bench',
    imports: ['page/shared', 'protocol'],
    packages: ['preact', 'uplot'],
    withoutNode: true,
  },
  'page/shared': {
    holds: 'what both pages use: connection, words, numbers, notifications',
    imports: ['page/generated', 'protocol'],
    packages: ['preact', 'uplot'],
    withoutNode: true,
  },
  'page/generated': { holds: 'the pages as browsers load them, and words', imports: [], packages: [] },
  protocol: {
    holds: 'the contract: schemas, CBOR codec, CDDL, topics, errors, signed commands',
    imports: [],
    packages: ['cbor-x', 'fflate', 'typebox'],
    withoutNode: true,
  },
  'package.json': { holds: 'name and version', imports: [] },
  scripts: { holds: 'generators, test runner, launcher', imports: 'any' },
  test: {
    holds: 'mirrors the rooms; `contracts/` one suite per port, `rig/` real brokers and a virtual clock',
    imports: 'any',
  },
  'vitest.config.ts': { holds: 'settings of the tests', imports: ['test'] },
};

/** Packages that, apart from tools, only one room may import. */
export const packageRooms: Readonly<Record<string, { readonly room: string; readonly reason: string }>> = {
  commander: { room: 'commands', reason: 'any program can build an agent: only commands know a command line' },
  pg: { room: 'hub/database', reason: 'queries run where the format of the tables is known' },
};

/** Single imports that the table refuses but the project needs; currently empty. */
export const exceptions: readonly { readonly from: string; readonly to: string; readonly reason: string }[] = [];
