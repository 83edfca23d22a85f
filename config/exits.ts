/** The `exits` section of vigie.yaml: receivers of the car's values in addition to the cloud. */

import { type Scope, scopeMeanings } from '../protocol/interface/operations/scopes.ts';
import { suggestion } from '../protocol/nearest.ts';
import { type ExitSettings, exitSettings } from '../protocol/settings.ts';
import type { Language } from '../protocol/words/languages.ts';
import { type AbrpConfiguration, readAbrp } from './abrp.ts';
import type { ExitsInput } from './configuration-schema.ts';
import { quoted } from './faults.ts';
import type { Findings } from './findings.ts';
import { type InfluxConfiguration, readInflux } from './influx.ts';
import { type BrokerConfiguration, readBroker } from './mqtt.ts';
import { readSettings } from './settings.ts';

export interface ExitsConfiguration extends ExitSettings {
  /** Broker of the plain topics. */
  readonly mqtt?: BrokerConfiguration;
  readonly influx?: InfluxConfiguration;
  readonly abrp?: AbrpConfiguration;
  /** Beginning of all topics. */
  readonly prefix: string;
  readonly form: 'value' | 'json';
  readonly retain: boolean;
  /** If omitted, Home Assistant gets no description of the topics. */
  readonly homeAssistant?: { readonly language: Language; readonly prefix: string };
  /** Values that the broker gets, and kinds of commands that it may send. */
  readonly scopes: ReadonlySet<Scope>;
}

/** Scopes that mean something for an exit. */
const known: readonly Scope[] = [
  'data:telemetry',
  'data:position',
  'data:trip',
  'data:alert',
  'data:collision',
  ...(Object.keys(scopeMeanings) as Scope[]).filter((scope) => scope.startsWith('remote:')),
];

/** Reads `exits`. `beside` returns absolute paths. `receivers`: members that name a receiver. */
export function readExits(
  input: ExitsInput | undefined,
  beside: (path: string) => string,
  findings: Findings,
  receivers = 'mqtt, influx or abrp',
): ExitsConfiguration | undefined {
  if (input === undefined || !findings.sound('/exits')) return undefined;
  const { form = 'value', homeAssistant, scopes = ['data:telemetry', 'data:position'] } = input;
  for (const [index, scope] of scopes.entries()) {
    if ((known as readonly string[]).includes(scope)) continue;
    const fix = suggestion(scope, known) ?? `known: ${known.join(', ')}`;
    findings.error(`/exits/scopes/${index}`, `no exit has the scope ${quoted(scope)}`, fix);
  }
  if (homeAssistant !== undefined && form === 'json') {
    findings.error('/exits/form', 'Home Assistant reads topics of the form value', 'write form: value, or remove form');
  }
  if (input.mqtt === undefined) checkWithoutBroker(input, findings, receivers);
  return {
    ...(input.mqtt && { mqtt: readBroker(input.mqtt, '/exits/mqtt', beside, findings) }),
    ...(input.abrp && { abrp: readAbrp(input.abrp, '/exits/abrp', beside, findings) }),
    ...(input.influx && { influx: readInflux(input.influx, '/exits/influx', beside, findings) }),
    prefix: input.prefix ?? 'vigie/plain',
    form,
    retain: input.retain ?? true,
    ...(homeAssistant && {
      homeAssistant: { language: homeAssistant.language ?? 'en', prefix: homeAssistant.prefix ?? 'homeassistant' },
    }),
    scopes: new Set(scopes as Scope[]),
    ...readSettings(exitSettings, input, '/exits', findings),
  };
}

/** Members that only plain topics use. */
const TOPIC_MEMBERS = ['prefix', 'form', 'retain', 'homeAssistant', ...Object.keys(exitSettings)] as const;

function checkWithoutBroker(input: ExitsInput, findings: Findings, receivers: string): void {
  if (input.influx === undefined && input.abrp === undefined) {
    findings.error('/exits', 'exits have no receiver', `add ${receivers}`);
  }
  for (const name of TOPIC_MEMBERS) {
    if (!Object.hasOwn(input, name)) continue;
    findings.error(`/exits/${name}`, `${name} is for plain topics and there is no broker`, 'add mqtt, or remove it');
  }
}
