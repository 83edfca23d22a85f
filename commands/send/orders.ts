/** Parses orders to the agent itself: for monitors, callbacks, keys, resending messages and another configuration. */

import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { configurationSchema } from '../../config/configuration-schema.ts';
import { readYamlFile } from '../../config/document.ts';
import { checkForm } from '../../config/faults.ts';
import { Findings, placeOf } from '../../config/findings.ts';
import { configuration as formOfConfiguration } from '../../config/generated/validators.js';
import { readMonitorsFile } from '../../config/monitors.ts';
import { classes } from '../../protocol/classes.ts';
import { encodeBody } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { callbackIdPattern } from '../../protocol/schema/callback/delivery.ts';
import { callbackSides, callbackStatuses, readSubscribe } from '../../protocol/schema/callback.ts';
import { compileMonitor, monitorIdPattern } from '../../protocol/schema/monitor.ts';
import { captureOf } from './capture.ts';
import { collectionsOf, collectUsage } from './collect.ts';
import { type Details, faulty, type SendRequest, wrong } from './request.ts';
import { addedKeys, revokedKeys } from './trust.ts';

interface Order {
  readonly usage: string;
  /** Names of the options that the order accepts, by its first word. */
  readonly details: Readonly<Record<string, readonly (keyof Details)[]>>;
  /** Returns undefined for invalid words. */
  read(
    words: readonly string[],
    details: Details,
    keys: string,
  ): Promise<SendRequest[] | undefined> | SendRequest[] | undefined;
}

const orders: Readonly<Record<string, Order>> = {
  monitor: {
    usage: 'monitor add FILE… [--id ID] | pause|resume|remove ID… | list',
    details: { add: ['id'] },
    read: ([word, ...rest], details) => {
      if (word === 'add' && rest.length > 0) return rest.flatMap((file) => monitorsIn(file, details));
      return settings('Monitor', word, rest);
    },
  },
  callback: {
    usage: 'callback add FILE… [--id ID] [--side fleet|user] | pause|resume|remove ID…',
    details: { add: ['id', 'side'] },
    read: ([word, ...rest], details) => {
      if (word === 'add' && rest.length > 0) return rest.map((file) => callbackIn(file, details));
      return settings('Callback', word, rest);
    },
  },
  trust: {
    usage: 'trust add KEY… [--kinds KINDS] | revoke KEY…',
    details: { add: ['kinds'] },
    read: async ([word, ...rest], { kinds }, keys) => {
      if (rest.length === 0) return undefined;
      if (word === 'add') return addedKeys(rest, kinds, keys);
      return word === 'revoke' ? revokedKeys(rest, keys) : undefined;
    },
  },
  resend: {
    usage: 'resend CLASS NUMBER[-NUMBER]…',
    details: {},
    read: ([priority = '', ...runs]) => (runs.length === 0 ? undefined : [resendOf(priority, runs)]),
  },
  collect: {
    usage: collectUsage,
    details: { start: ['until', 'interval', 'while'] },
    read: ([word, ...rest], details) => collectionsOf(word, rest, details),
  },
  faults: {
    usage: 'faults read',
    details: {},
    read: ([word, ...more]) => (word === 'read' && more.length === 0 ? [{ kind: 'ReadFaults', body: {} }] : undefined),
  },
  capture: {
    usage: 'capture take NAME [--before TIME] [--after TIME] [--buses BUSES] [--identifiers IDS]',
    details: { take: ['before', 'after', 'buses', 'identifiers'] },
    read: ([word, name, ...more], details) =>
      word === 'take' && name !== undefined && more.length === 0 ? [captureOf(name, details)] : undefined,
  },
  configuration: {
    usage: 'configuration FILE',
    details: {},
    read: ([file, ...more]) => (file === undefined || more.length > 0 ? undefined : [configurationIn(file)]),
  },
};

/** Usage lines of all orders, for help and error messages. */
export const orderUsages: readonly string[] = Object.values(orders).map(({ usage }) => usage);

/** Returns true if `what` is an order to the agent itself. */
export function isOrder(what: string): boolean {
  return Object.hasOwn(orders, what);
}

/**
 * Returns the commands to the agent itself that the words describe, in order. `keys` is the directory in which names of
 * keys are looked up. Rejects with `usage.wrong` for invalid words. For a faulty file, rejects with
 * `configuration.wrong`, which lists every fault with file and line, before any command is sent.
 */
export async function ordersOf(
  what: string,
  words: readonly string[],
  details: Details,
  keys: string,
): Promise<readonly SendRequest[]> {
  const order = orders[what] as Order;
  const said = [what, ...words].join(' ');
  const known = order.details[words[0] ?? ''] ?? [];
  for (const name of Object.keys(details) as (keyof Details)[]) {
    if (!known.includes(name)) throw wrong(`"${said}" has no --${name}: ${order.usage}`);
  }
  const requests = await order.read(words, details, keys);
  if (requests === undefined) throw wrong(`cannot send "${said}": ${order.usage}`);
  // Refuse a command that is too long here, not after half of the commands were sent.
  for (const { kind, body } of requests) encodeBody(kind, body);
  return requests;
}

function resendOf(priority: string, runs: readonly string[]): SendRequest {
  if (!/^\d$/.test(priority) || Number(priority) >= classes.length) {
    throw wrong(`"${priority}" is not a priority class: 0 to ${classes.length - 1}`);
  }
  const numbers = runs.map((run) => {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(run) ?? [];
    if (first === undefined || Number(last) < Number(first)) throw wrong(`"${run}" is not a run of numbers like 17-20`);
    return [Number(first), Number(last)];
  });
  return { kind: 'Resend', body: { class: Number(priority), numbers } };
}

const statuses: Readonly<Record<string, string>> = { pause: 'Paused', resume: 'Running' };

/** Format of ids in the interface. */
const ids = {
  Monitor: { member: 'monitorId', pattern: new RegExp(monitorIdPattern), form: '1 to 64 letters, digits, - and _' },
  Callback: { member: 'callbackId', pattern: new RegExp(callbackIdPattern), form: '1 to 64 of 0-9, a-f, - and _' },
} as const;

function settings(
  kind: keyof typeof ids,
  word: string | undefined,
  named: readonly string[],
): SendRequest[] | undefined {
  const status = statuses[word ?? ''];
  if (named.length === 0 || (status === undefined && word !== 'remove')) return undefined;
  const { member, pattern, form } = ids[kind];
  return named.map((id) => {
    if (!pattern.test(id)) throw wrong(`"${id}" is not a ${member}: ${form}`);
    return { kind, body: { [member]: id, ...(status === undefined ? { remove: true } : { status }) } };
  });
}

function monitorsIn(file: string, { id }: Details): SendRequest[] {
  const { monitors, diagnostics } = readMonitorsFile(file, id ?? nameOf(file));
  if (monitors === undefined) throw faulty(file, diagnostics);
  if (id !== undefined && monitors.some(({ monitorId }) => monitorId !== id)) {
    throw wrong(`--id is for a file without monitorId: ${file} has its own`);
  }
  return monitors.map(({ monitorId, monitor, status }) => {
    const body = { monitorId, monitor: compileMonitor(monitor).parameter, ...defined({ status }) };
    return { kind: 'Monitor', body };
  });
}

/** Reads a callback in the form that the interface returns (with `callbackId` and `subscribe`) or accepts. */
function callbackIn(file: string, { id, side }: Details): SendRequest {
  const { contents, diagnostics } = readYamlFile(file);
  if (contents === undefined) throw faulty(file, diagnostics);
  const findings = new Findings(file, contents.lines);
  findings.take(diagnostics);
  const data = typeof contents.data === 'object' && contents.data !== null ? contents.data : {};
  const { callbackId, side: written, subscribe, status } = data as Readonly<Record<string, unknown>>;
  const bare = subscribe === undefined;
  const line = side ?? (bare ? undefined : written);
  const known = callbackSides.find((one) => one === line);
  if (known === undefined)
    throw wrong(`${file} does not show its side of the interface: give --side fleet or --side user`);
  const set = callbackStatuses.find((one) => one === status);
  if (!bare && status !== undefined && set === undefined) {
    findings.error('/status', `status must be one of ${callbackStatuses.join(', ')}`);
  }
  const name = id ?? (bare || callbackId === undefined ? nameOf(file) : callbackId);
  if (typeof name !== 'string' || !ids.Callback.pattern.test(name)) {
    findings.error('/callbackId', `${JSON.stringify(name)} is not a callbackId: ${ids.Callback.form}`, 'give --id');
  }
  try {
    const body = {
      callbackId: name,
      side: known,
      subscribe: readSubscribe(known, bare ? contents.data : subscribe),
      ...(bare || set === undefined ? {} : { status: set }),
    };
    if (!findings.failed) return { kind: 'Callback', body };
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    const place = placeOf(error.where ?? '');
    findings.error(bare ? place.replace(/^\/subscribe/, '') : place, error.message);
  }
  throw faulty(file, findings.sorted());
}

/** Reads a configuration and checks only its form: its paths refer to files on the unit, which checks the rest. */
function configurationIn(file: string): SendRequest {
  const { contents, diagnostics } = readYamlFile(file);
  if (contents === undefined) throw faulty(file, diagnostics);
  const findings = new Findings(file, contents.lines);
  findings.take(diagnostics);
  checkForm(contents.data, formOfConfiguration, configurationSchema, findings);
  if (findings.failed) throw faulty(file, findings.sorted());
  return { kind: 'Configuration', body: { configuration: readFileSync(file, 'utf8') } };
}

/** Returns the name of a file without its extension. */
function nameOf(file: string): string {
  return basename(file, extname(file));
}
