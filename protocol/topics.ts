/**
 * MQTT topics. They are the same in MQTT 5 and 3.1.1:
 *
 *     vigie/1/{vin}/up/{kind}      from the car
 *     vigie/1/{vin}/up/catalog-{catalog}-{part}    of kind catalog; retained
 *     vigie/1/{vin}/presence       from the car and, as its will, from the broker; retained
 *     vigie/1/{vin}/down/{kind}    to the car
 */
import { VigieError } from './errors.ts';
import { type Kind, kinds } from './schema/kind.ts';

const ROOT = 'vigie/1';

export const downKinds = ['remote', 'monitor', 'callback', 'config', 'ack', 'watch'] as const;
export type DownKind = (typeof downKinds)[number];

type Topic =
  | { readonly vin: string; readonly direction: 'up'; readonly kind: Kind }
  | { readonly vin: string; readonly direction: 'down'; readonly kind: DownKind }
  | { readonly vin: string; readonly direction: 'presence' };

/** Returns true for a vehicle identification number: 17 capital letters and digits, not I, O, Q. ISO 3779:2009 §4.5. */
export function isVin(text: string): boolean {
  return /^[A-HJ-NPR-Z0-9]{17}$/.test(text);
}

/** Returns the topic of a message from the car. @throws VigieError `input.malformed` for an invalid VIN */
export function upTopic(vin: string, kind: Kind): string {
  return `${vehicle(vin)}/up/${kind}`;
}

/**
 * Returns the topic of a part of a catalog. It is separate, so that the broker retains every part of every catalog. It
 * has as many levels as the others, so permissions and subscriptions for `up/+` include it.
 * @param catalog hash of the catalog, in hexadecimal
 */
export function catalogTopic(vin: string, catalog: string, part: number): string {
  return `${upTopic(vin, 'catalog')}-${catalog}-${part}`;
}

const ofCatalog = /^catalog-[0-9a-f]{16}-[0-9]{1,3}$/;

/** Returns the topic of a message to the car. @throws VigieError `input.malformed` for an invalid VIN */
export function downTopic(vin: string, kind: DownKind): string {
  return `${vehicle(vin)}/down/${kind}`;
}

/** Returns the topic with the connection status of the car. @throws VigieError `input.malformed` for an invalid VIN */
export function presenceTopic(vin: string): string {
  return `${vehicle(vin)}/presence`;
}

/** Topic filter for the presence of all cars. */
export const presenceFilter = `${ROOT}/+/presence`;

/** Returns the filter for all messages to the car. @throws VigieError `input.malformed` for an invalid VIN */
export function downFilter(vin: string): string {
  return `${vehicle(vin)}/down/+`;
}

/** Returns the filter for all messages from one or all cars. @throws VigieError `input.malformed` for an invalid VIN */
export function upFilter(vin?: string): string {
  return `${vin === undefined ? `${ROOT}/+` : vehicle(vin)}/up/+`;
}

/**
 * Returns the filters of all messages of the car that a broker may retain, and the topics of these that every car has.
 * @throws VigieError `input.malformed` for an invalid VIN
 */
export function retainedOf(vin: string): { readonly filters: readonly string[]; readonly topics: readonly string[] } {
  return {
    filters: [upFilter(vin), presenceTopic(vin), downFilter(vin)],
    topics: [presenceTopic(vin), upTopic(vin, 'status'), upTopic(vin, 'monitor'), upTopic(vin, 'vehicle')],
  };
}

/** Parses a topic. Returns undefined for any other topic, e.g. of another protocol version. */
export function parseTopic(topic: string): Topic | undefined {
  if (!topic.startsWith(`${ROOT}/`)) return undefined;
  const [vin = '', direction, kind, ...rest] = topic.slice(ROOT.length + 1).split('/');
  if (!isVin(vin) || rest.length > 0) return undefined;
  if (direction === 'presence' && kind === undefined) return { vin, direction };
  if (direction === 'up' && kind !== undefined && ofCatalog.test(kind)) return { vin, direction, kind: 'catalog' };
  if (direction === 'up' && includes(kinds, kind)) return { vin, direction, kind };
  if (direction === 'down' && includes(downKinds, kind)) return { vin, direction, kind };
  return undefined;
}

/** Returns the kind of a message from the car, by its topic; for any other topic, the last level. */
export function upKind(topic: string): string {
  const parsed = parseTopic(topic);
  return parsed?.direction === 'up' ? parsed.kind : topic.slice(topic.lastIndexOf('/') + 1);
}

/** Returns the kind of a message to the car `vin`; undefined for any other topic, including those of other cars. */
export function downKind(vin: string, topic: string): DownKind | undefined {
  const parsed = parseTopic(topic);
  return parsed?.direction === 'down' && parsed.vin === vin ? parsed.kind : undefined;
}

function vehicle(vin: string): string {
  if (isVin(vin)) return `${ROOT}/${vin}`;
  throw new VigieError(
    'input.malformed',
    `${JSON.stringify(vin)} is not a VIN: it has 17 capital letters and digits, without I, O and Q (ISO 3779)`,
  );
}

function includes<V extends string>(values: readonly V[], value: string | undefined): value is V {
  return values.some((known) => known === value);
}
