/**
 * Indented commands on pages, which `commands.test.ts` does not type. Each is run by a test in this list, or a comment
 * on the page states that it needs root, hardware or a network: at the end of its line, or alone in the first line of
 * its block for the whole block.
 */
import { stages } from '../../scripts/ci/stages.ts';

export interface UntypedCommand {
  /** Line of the page, from 1. */
  readonly line: number;
  /** All lines of the command, without the comment at its end. */
  readonly text: string;
  /** Needs according to the page. */
  readonly needs: string | undefined;
}

const PROGRAMS =
  'npm|npx|node|vigie|curl|systemctl|journalctl|apt|install|sed|scp|ssh|ip|openssl|createdb|dropdb|cp|mosquitto_sub|echo|sh';
const COMMAND = new RegExp(`^ {4}(?:[A-Z_]+=\\S+ )*(?:${PROGRAMS}) \\S`);
const NEEDS = /#.*\bneeds (root|hardware|a network)\b/;

/** The indented commands of a page, in order. */
export function untypedOf(page: string): UntypedCommand[] {
  const commands: UntypedCommand[] = [];
  let fenced = false;
  let block: string | undefined;
  let open: UntypedCommand | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    if (/^ {0,7}```/.test(line)) fenced = !fenced;
    if (fenced) continue;
    const indented = line.startsWith('    ');
    if (!indented && line.trim() !== '') block = undefined;
    if (/^ {4}#/.test(line)) block = NEEDS.exec(line)?.[1];
    const text = line.replace(/\s+# .*$/, '').trim();
    if (open !== undefined) open = { ...open, text: `${open.text.replace(/\\$/, '')}${text}` };
    else if (COMMAND.test(line)) open = { line: index + 1, text, needs: NEEDS.exec(line)?.[1] ?? block };
    if (open === undefined || /[\\|]$/.test(open.text)) continue;
    commands.push(open);
    open = undefined;
  }
  return commands;
}

/** Commands of the stages of CI. */
const ci: readonly string[] = stages.map(({ command }) => command.join(' '));

/** Whether CI runs the command, as a stage or as part of a stage that the command narrows. */
export function isStage(command: string): boolean {
  return command === 'npm ci' || ci.some((stage) => command === stage || command.startsWith(`${stage} -- `));
}

/** Beginnings of commands, and the file that runs them with the options on the pages. */
export const runBy: readonly (readonly [beginning: RegExp, file: string])[] = [
  [/^npx vigie send VIN collect (?!file)/, 'test/commands/orders.test.ts'],
  [/^npx vigie send VF3\S+ doors /, 'test/commands/presence.test.ts'],
  [/^npx vigie send VIN collect file /, 'test/commands/orders.test.ts'],
  [/^npx vigie bench --broker /, 'test/commands/hub-registry.test.ts'],
  [/^vigie export VF3\S+ --hub /, 'test/contracts/hub-export.ts'],
  [/^vigie export VF3\S+ --data /, 'test/commands/export/export.test.ts'],
  [
    /^npx vigie bench --home-assistant |^mosquitto_sub -t '(?:homeassistant|vigie\/plain)/,
    'test/docs/exits.engine.test.ts',
  ],
  [/^npx vigie bench --cars /, 'test/commands/bench-fleet.test.ts'],
  [/^node docs\/fleet-client\.mjs /, 'test/commands/bench-fleet.test.ts'],
  [/^npx vigie hub$/, 'test/commands/hub.test.ts'],
  [/^npx vigie watch /, 'test/commands/watch.test.ts'],
  [/^vigie hub (?:add|list|remove|forget) /, 'test/commands/hub-registry.test.ts'],
  [/^vigie send \S+ doors lock --hub/, 'test/commands/bench-fleet.test.ts'],
  [/^vigie hub list/, 'test/commands/hub-registry.test.ts'],
  [/^vigie hub token --(?:fleet|user)/, 'test/commands/hub-registry.test.ts'],
  [/^vigie hub token --(?:list|withdraw)/, 'test/hub/start/access.test.ts'],
  [/^vigie hub audit/, 'test/commands/hub-audit.test.ts'],
  [/^vigie hub status/, 'test/commands/hub-status.test.ts'],
  [/^vigie hub rollout/, 'test/commands/hub-rollout.test.ts'],
  [/^vigie hub --metrics/, 'test/commands/hub.test.ts'],
  [/^vigie hub (?:backup|restore)/, 'test/hub/start/backup.test.ts'],
  [/^vigie inspect .* --compare/, 'test/commands/inspect/compare.test.ts'],
  [/^vigie inspect .* --correlate/, 'test/commands/inspect/correlate.test.ts'],
  [/^curl .*127\.0\.0\.1:8080\S*(?<!live)$/, 'test/contracts/hub-interface.ts'],
  [/^curl -N .*live$/, 'test/contracts/hub-live.ts'],
  [/^curl --unix-socket/, 'test/hub/start/health.test.ts'],
  [/^mosquitto_sub .*receive\.py/, 'test/docs/receiving.engine.test.ts'],
  [/^apt install |^install |^echo |^sed |^vigie check -c|^systemctl status/, 'scripts/tcu/fresh.ts'],
  [/^npm ci && npm (?:start|test)$/, 'scripts/bare/inside.mjs'],
  [/^npm run test:hub/, 'test/scripts/hub-areas.test.ts'],
  [/^npm run count-files/, 'test/scripts/file-count.long.test.ts'],
  [/^npm run fleet(?! -- --readings)/, 'test/scripts/fleet.long.test.ts'],
  [/^npm run fuzz/, 'test/fuzz/command.long.test.ts'],
  [/^npm run simulate/, 'test/world/simulate.long.test.ts'],
  [/^npm run library|^npm run test:library/, 'scripts/package/library-trial.ts'],
  [/^npm install \.\/vigie-/, 'scripts/package/release-trial.ts'],
  [/^npm run release/, 'scripts/package/release-trial.ts'],
  [/^npm run docs/, 'test/scripts/site.long.test.ts'],
  [/^npm run sbom/, 'test/scripts/package/sbom.test.ts'],
  [/^npx vitest run /, 'scripts/test.ts'],
];

/** Commands that no test runs although they need none of these, with the reason. */
export const notRun: Readonly<Record<string, string>> = {
  'npm run coverage': 'runs the tests of protocol and agent, as npm test does, and records what they reach',
  'npm run fleet -- --readings 200 --minutes 60 --speed 30': 'measures for minutes what PostgreSQL stores',
  'npm run format': 'writes what npm run check looks for',
  'npm run page-cost': 'measures for a minute, in Chromium',
  'npm run page-heap': 'measures for a quarter of an hour, in Chromium',
  'npm run simulate -- --seed 7 --days 1':
    'lives for minutes; world.test.ts has the shortest plan that broke an invariant',
  'npm run simulate -- --small': 'lives for minutes; small.test.ts has a part of these worlds',
  'npm run screenshots -- FOLDER': 'makes pictures for people, in Chromium',
};

/** Files that read their commands from the page, so the commands need not appear in the file. */
export const reading: readonly string[] = [
  'scripts/tcu/fresh.ts',
  'test/docs/exits.engine.test.ts',
  'test/world/simulate.long.test.ts',
];

/** Words of a command that must be in the file: options, command words, and the end of an address. */
export function evidenceOf(command: string): readonly string[] {
  const options = /^(?:(?:npx )?vigie|npm run) /.test(command) ? (command.match(/(?<= )--[a-z]+[a-z-]*/g) ?? []) : [];
  const [, order] = /^(?:npx )?vigie (?:hub|keys|send \S+) ([a-z]+)/.exec(command) ?? [];
  const ends = [...command.matchAll(/https?:\/\/\S*\/([A-Za-z]+)/g)].map(([, end = '']) => end);
  return [...new Set([...options, ...(order === undefined ? [] : [order]), ...ends])];
}

/** Whether a file contains a word of a command. An option may also be a member such as `cars:`. */
export function hasWord(content: string, word: string): boolean {
  return content.includes(word) || (word.startsWith('--') && content.includes(`${word.slice(2)}:`));
}
