/** Loads vigie.yaml: validates it and converts it to plain data. */

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isTimeZone } from '../protocol/calendar.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { suggestion } from '../protocol/nearest.ts';
import {
  type CaptureSettings,
  type CollectSettings,
  type CommandSettings,
  captureSettings,
  collectSettings,
  commandSettings,
  type FaultSettings,
  faultSettings,
  type OutboxSettings,
  outboxSettings,
} from '../protocol/settings.ts';
import { checkAwaited } from './awaited-file.ts';
import { type CallbacksConfiguration, readCallbacks } from './callbacks.ts';
import { type ConfigurationInput, configurationSchema } from './configuration-schema.ts';
import { credentialPath } from './credentials.ts';
import { configurationDefaults } from './defaults.ts';
import { readYamlFile } from './document.ts';
import { type Environment, overlay, reportUnknown } from './environment.ts';
import { type ExitsConfiguration, readExits } from './exits.ts';
import { checkForm, quoted } from './faults.ts';
import { Findings } from './findings.ts';
import { configuration as formOfConfiguration } from './generated/validators.js';
import { type HttpConfiguration, readHttp } from './http.ts';
import { type CanInput, type GnssInput, type ObdInput, type RecordingSettings, readInputs } from './inputs.ts';
import { type MonitorsConfiguration, readMonitorsSection } from './monitors.ts';
import { type MqttConfiguration, readMqtt } from './mqtt.ts';
import { type PowerConfiguration, readPower } from './power.ts';
import { readService, type ServiceConfiguration } from './service.ts';
import { readSettings } from './settings.ts';
import { isProfilePath, shippedNames, shippedProfiles } from './shipped.ts';

export interface CommandConfiguration extends CommandSettings {
  /** File with the keys that may sign commands. */
  readonly trust: string;
}

/** Validated vigie.yaml: absolute paths, times in ms, sizes in bytes. */
export interface Configuration extends ServiceConfiguration {
  readonly file: string;
  /** If omitted, the agent reads the VIN from the car through `obd`. */
  readonly vin?: string;
  /** Name of a shipped profile, or absolute path, for `loadProfile`. */
  readonly profile: string;
  /** Folder of the records. */
  readonly data: string;
  readonly can: readonly CanInput[];
  readonly obd?: ObdInput;
  /** If omitted, the agent reads no fault codes. */
  readonly faults?: FaultSettings;
  readonly gnss?: GnssInput;
  /** If omitted, the agent does not record frames. */
  readonly record?: RecordingSettings;
  readonly mqtt: MqttConfiguration;
  /** If omitted, the agent accepts no remote commands. */
  readonly commands?: CommandConfiguration;
  readonly outbox: OutboxSettings;
  readonly power: PowerConfiguration;
  /** If omitted, the agent does not serve the interface. */
  readonly http?: HttpConfiguration;
  /** Permitted destinations and limits of notifications. */
  readonly callbacks: CallbacksConfiguration;
  /** If omitted, the agent sends its values only to the cloud. */
  readonly exits?: ExitsConfiguration;
  readonly captures: CaptureSettings;
  readonly collect: CollectSettings;
  /** IANA time zone of the car's programs. If omitted, Europe/Paris. */
  readonly timeZone?: string;
  /** If omitted, the configuration has no monitors. */
  readonly monitors?: MonitorsConfiguration;
  readonly log: { readonly level: 'error' | 'warn' | 'info' };
}

/** A configuration of a car with a known VIN. */
export type IdentifiedConfiguration = Configuration & { readonly vin: string };

/** Data about a configuration that was sent to the unit instead of written there. */
export interface SentConfiguration {
  /** Folder of the files sent with it. A profile there takes precedence over one at the same path on the unit. */
  readonly files: string;
  /** Defaults of the unit for omitted fields. */
  readonly unit: { readonly vin?: string; readonly data: string };
}

interface ConfigurationReading {
  /** Undefined if one of the findings is an error. */
  readonly configuration?: Configuration;
  readonly diagnostics: Diagnostic[];
}

/**
 * Loads vigie.yaml and replaces fields with the variables of `environment` (see {@link variables} in environment.ts).
 * Reports all faults of the contents as findings, and throws for none of them. Relative paths are relative to `folder`,
 * by default the file's folder; `credential:NAME` is a file that the service manager provides. An agent can run without
 * the files for the broker, the interface, commands and callbacks, and uses them as soon as they exist: with `awaited`,
 * an unreadable one is a warning.
 */
export function loadConfiguration(
  path: string,
  environment: Environment,
  folder: string = dirname(path),
  files: 'needed' | 'awaited' = 'needed',
  sent?: SentConfiguration,
): ConfigurationReading {
  const { contents, diagnostics } = readYamlFile(path);
  if (contents === undefined) return { diagnostics };
  const { data, origins } = overlay(contents.data, environment);
  const findings = new Findings(path, contents.lines, origins, files);
  findings.take(diagnostics);
  reportUnknown(environment, findings);
  const readable =
    checkForm(data, formOfConfiguration, configurationSchema, findings) && typeof data === 'object' && data !== null;
  if (!readable) return { diagnostics: findings.sorted() };
  // The form was checked above. Sections with faults are skipped below.
  const beside = (written: string) => credentialPath(written, environment) ?? resolve(folder, written);
  const input = sent === undefined ? data : { ...sent.unit, ...data };
  const configuration = readConfiguration(resolve(path), input as ConfigurationInput, beside, findings, sent);
  return { ...(findings.failed ? {} : { configuration }), diagnostics: findings.sorted() };
}

function readConfiguration(
  file: string,
  input: ConfigurationInput,
  beside: (path: string) => string,
  findings: Findings,
  sent: SentConfiguration | undefined,
): Configuration {
  const profile = typeof input.profile === 'string' ? input.profile : '';
  const data = beside(typeof input.data === 'string' ? input.data : configurationDefaults.data);
  const commands = readCommands(input, beside, data, findings);
  const level = findings.sound('/log') ? input.log?.level : undefined;
  const outbox = readSettings(outboxSettings, input.outbox, '/outbox', findings);
  const mqtt = readMqtt(input.mqtt, beside, findings);
  const http = readHttp(input.http, beside, findings);
  const monitors = readMonitorsSection(input.monitors, beside, findings);
  if (input.vin === undefined && input.obd === undefined && findings.sound('/vin')) {
    findings.error('', 'vin is missing', 'add vin: and its 17 characters; with obd it is read from the car');
  }
  if (input.faults !== undefined && input.obd === undefined && input.can === undefined && findings.sound('/faults')) {
    findings.error('/faults', 'fault codes are read by obd or can, and there is neither', 'add one, or remove faults');
  }
  const timeZone = findings.sound('/timeZone') ? input.timeZone : undefined;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    findings.error('/timeZone', `there is no time zone ${quoted(timeZone)}`, 'write a name such as Europe/Paris');
  }
  return {
    file,
    ...defined({ vin: input.vin }),
    profile: isProfilePath(profile)
      ? (sentProfile(profile, sent) ?? beside(profile))
      : shippedProfile(profile, beside, findings),
    data,
    ...readInputs(input, beside, findings),
    ...(input.faults === undefined ? {} : { faults: readSettings(faultSettings, input.faults, '/faults', findings) }),
    mqtt,
    ...defined({ commands }),
    outbox,
    power: readPower(input.power, mqtt, findings),
    ...readService(input, beside, findings),
    ...defined({ http }),
    callbacks: readCallbacks(input.callbacks, beside, findings),
    ...defined({ exits: readExits(input.exits, beside, findings) }),
    captures: readSettings(captureSettings, input.captures, '/captures', findings),
    collect: readSettings(collectSettings, input.collect, '/collect', findings),
    ...defined({ monitors, timeZone }),
    log: { level: level ?? configurationDefaults.log.level },
  };
}

function sentProfile(written: string, sent: SentConfiguration | undefined): string | undefined {
  if (sent === undefined || isAbsolute(written)) return undefined;
  const file = join(sent.files, written);
  return file.startsWith(join(sent.files, '/')) && existsSync(file) ? file : undefined;
}

/** A name without a `/` refers to a shipped profile. */
function shippedProfile(name: string, beside: (written: string) => string, findings: Findings): string {
  const known = shippedNames(shippedProfiles);
  if (name === '' || known.includes(name)) return name;
  const fix = existsSync(beside(name)) ? `write ./${name}, if that folder is meant` : suggestion(name, known);
  const all = `known: ${known.join(', ') || 'none'}; or give a path, such as ./${name}`;
  findings.error('/profile', `there is no profile ${quoted(name)}`, fix ?? all);
  return name;
}

function readCommands(
  { commands }: ConfigurationInput,
  beside: (path: string) => string,
  data: string,
  findings: Findings,
): CommandConfiguration | undefined {
  if (commands === undefined || !findings.sound('/commands')) return undefined;
  const trust = beside(commands.trust);
  checkAwaited('/commands/trust', trust, findings, { fix: 'make it with `vigie keys`' });
  if (trust === join(data, 'trust.json')) {
    const message = 'the agent keeps the changes of keys by commands in this file';
    findings.error('/commands/trust', message, 'put the trust file into another folder');
  }
  return { trust, ...readSettings(commandSettings, commands, '/commands', findings) };
}
