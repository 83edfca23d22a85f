/** The rooms of the project, and which of them each may import. `npm run check` refuses every other import. */

export interface Room {
  /** Contents, in a few words. */
  readonly holds: string;
  /** Rooms that its files may import besides their own; `any` for tools. */
  readonly imports: readonly string[] | 'any';
  /** Packages that its files may import; if omitted, any that package.json declares. */
  readonly packages?: readonly string[];
  /** The room runs anywhere: its files import no module of Node. */
  readonly withoutNode?: true;
}

/** A room has the path of its folder. Each folder of `adapters/*` is a room, so no adapter imports another one. */
export const rooms: Readonly<Record<string, Room>> = {
  'main.ts': { holds: 'the program, one line', imports: ['commands'] },
  commands: {
    holds: 'one file a command: options, printing, signals',
    imports: ['assembly', 'config', 'adapters/*', 'agent', 'hub', 'protocol'],
  },
  assembly: {
    holds: 'builds agents and hubs for any program',
    imports: ['config', 'adapters/*', 'agent', 'hub', 'protocol', 'package.json'],
  },
  'adapters/*': { holds: 'one folder for each thing outside', imports: ['agent', 'hub', 'protocol'] },
  config: { holds: 'reads and checks files of settings', imports: ['protocol'] },
  agent: { holds: 'the core of a car', imports: ['protocol'], packages: [], withoutNode: true },
  hub: { holds: 'the core of the server side', imports: ['protocol'], packages: [], withoutNode: true },
  page: { holds: 'the page, in browsers', imports: ['protocol'], packages: ['preact', 'uplot'], withoutNode: true },
  protocol: {
    holds: 'messages, schemas, settings, words',
    imports: [],
    packages: ['cbor-x', 'fflate', 'typebox'],
    withoutNode: true,
  },
  'package.json': { holds: 'name and version', imports: [] },
  scripts: { holds: 'tools of the maintainers', imports: 'any' },
  test: { holds: 'tests, one folder a room', imports: 'any' },
  'vitest.config.ts': { holds: 'settings of the tests', imports: ['test'] },
};

/** Packages that only one room imports, besides tools. */
export const packageRooms: Readonly<Record<string, { readonly room: string; readonly reason: string }>> = {
  commander: { room: 'commands', reason: 'any program can build an agent: only commands know a command line' },
  pg: { room: 'adapters/database', reason: 'queries run where the format of the tables is known' },
};

/** Single imports that the table refuses and the project needs; none at present. */
export const exceptions: readonly { readonly from: string; readonly to: string; readonly reason: string }[] = [];
