/** Environment variables that replace fields of vigie.yaml, for containers and service files. */
import { resolve } from 'node:path';
import { nearest } from '../protocol/nearest.ts';
import { type Findings, pointer } from './findings.ts';
import { isProfilePath } from './shipped.ts';

type Take = (written: string) => unknown;

const asWritten: Take = (written) => written;
/** Converts a value of a field that is a number or a string with a unit: digits alone are a number. */
const measured: Take = (written) => (/^[0-9]{1,15}$/.test(written) ? Number(written) : written);
/** Resolves a path relative to the working directory, as on a command line. Keeps `credential:NAME` unchanged. */
const path: Take = (written) => (written.startsWith('credential:') ? written : resolve(written));
const listening: Take = (written) => {
  const [, socket] = /^unix:(.+)$/.exec(written) ?? [];
  return socket === undefined ? written : `unix:${resolve(socket)}`;
};
/** Resolves the path of a profile. Keeps the name of a shipped profile unchanged. */
const profile: Take = (written) => (isProfilePath(written) ? resolve(written) : written);

interface Variable {
  readonly name: string;
  readonly member: readonly [string] | readonly [string, string];
  readonly take: Take;
}

/** All variables. An empty one counts as not set. */
export const variables: readonly Variable[] = [
  { name: 'VIGIE_VIN', member: ['vin'], take: asWritten },
  { name: 'VIGIE_PROFILE', member: ['profile'], take: profile },
  { name: 'VIGIE_DATA', member: ['data'], take: path },
  { name: 'VIGIE_MQTT_URL', member: ['mqtt', 'url'], take: asWritten },
  { name: 'VIGIE_MQTT_PROTOCOL', member: ['mqtt', 'protocol'], take: asWritten },
  { name: 'VIGIE_MQTT_USERNAME', member: ['mqtt', 'username'], take: asWritten },
  { name: 'VIGIE_MQTT_PASSWORD_FILE', member: ['mqtt', 'passwordFile'], take: path },
  { name: 'VIGIE_MQTT_CA', member: ['mqtt', 'ca'], take: path },
  { name: 'VIGIE_MQTT_CERT', member: ['mqtt', 'cert'], take: path },
  { name: 'VIGIE_MQTT_KEY', member: ['mqtt', 'key'], take: path },
  { name: 'VIGIE_MQTT_CRL', member: ['mqtt', 'crl'], take: path },
  { name: 'VIGIE_MQTT_KEEPALIVE', member: ['mqtt', 'keepalive'], take: measured },
  { name: 'VIGIE_COMMANDS_TRUST', member: ['commands', 'trust'], take: path },
  { name: 'VIGIE_OUTBOX_LIMIT', member: ['outbox', 'limit'], take: measured },
  { name: 'VIGIE_OUTBOX_KEEP_ACKNOWLEDGED', member: ['outbox', 'keepAcknowledged'], take: measured },
  { name: 'VIGIE_OUTBOX_BATCH', member: ['outbox', 'batch'], take: measured },
  { name: 'VIGIE_METRICS_LISTEN', member: ['metrics', 'listen'], take: listening },
  { name: 'VIGIE_FAULTS_EVERY', member: ['faults', 'every'], take: measured },
  { name: 'VIGIE_HEALTH_EVERY', member: ['health', 'every'], take: measured },
  { name: 'VIGIE_LOG_LEVEL', member: ['log', 'level'], take: asWritten },
];

/** Variables of the program that replace no field. */
export const otherVariables: readonly string[] = ['VIGIE_DEBUG', 'VIGIE_SEED_KEYS', 'VIGIE_TOKEN'];

/** Environment variables of a process, e.g. `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Overlay {
  readonly data: unknown;
  /** Name of the variable, by JSON Pointer of the field that it replaces. */
  readonly origins: ReadonlyMap<string, string>;
}

/** Returns a copy of `data` in which the variables replace fields. */
export function overlay(data: unknown, environment: Environment): Overlay {
  const origins = new Map<string, string>();
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return { data, origins };
  const result: Record<string, unknown> = { ...data };
  for (const { name, member, take } of variables) {
    const written = environment[name];
    if (written === undefined || written === '') continue;
    const [section, leaf] = member;
    if (leaf === undefined) result[section] = take(written);
    else {
      const around = result[section] ?? {};
      // Keep a section of the wrong type unchanged: the check of the form reports it.
      if (typeof around !== 'object' || Array.isArray(around)) continue;
      result[section] = { ...around, [leaf]: take(written) };
    }
    origins.set(pointer(...member), `$${name}`);
  }
  return { data: result, origins };
}

/** Warns about unknown VIGIE_ variables: a misspelt one would silently have no effect. */
export function reportUnknown(environment: Environment, findings: Findings): void {
  const known = new Set(variables.map(({ name }) => name));
  for (const name of Object.keys(environment).sort()) {
    if (!name.startsWith('VIGIE_') || known.has(name) || otherVariables.includes(name)) continue;
    const message = 'no such variable is known';
    const fix = known.has(`${name}_FILE`)
      ? `secrets are read from files only: write it to a file and set ${name}_FILE`
      : `did you mean ${nearest(name, known, 1)[0] ?? [...known].join(', ')}?`;
    findings.take([{ file: `$${name}`, line: 0, severity: 'warning', message, fix }]);
  }
}
