/** Topics that combine several values in a form that other programs expect. */
import type { StatusReader } from '../../agent/model/status.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';

interface CombinedTopic {
  /** Last level of the topic, below the VIN. */
  readonly name: string;
  /** Paths of the values that the topic combines. */
  readonly paths: readonly string[];
  /** Returns the message; it is empty if the values are unknown. */
  text(read: (path: string) => SlotValue | undefined): string;
}

const LATITUDE = 'lastPosition.latitude';
const LONGITUDE = 'lastPosition.longitude';
const ALTITUDE = 'lastPosition.altitude';
const CHARGING = 'energies.Electric.extension.electric.charging.status';
const PLUGGED = 'energies.Electric.extension.electric.charging.plugged';
const CONDITIONING = 'preconditioning.airConditioning.status';

export const combinedTopics: readonly CombinedTopic[] = [
  {
    // In degrees (WGS 84) and m, as an object that is empty while the position is unknown.
    name: 'position',
    paths: [LATITUDE, LONGITUDE, ALTITUDE],
    text: (read) => {
      const [latitude, longitude] = [read(LATITUDE), read(LONGITUDE)];
      if (latitude === undefined || longitude === undefined) return '{}';
      return JSON.stringify({ latitude, longitude, altitude: read(ALTITUDE) });
    },
  },
  {
    // States of a charging cable (IEC 61851-1): A not plugged in, B plugged in, C charging.
    name: 'charging',
    paths: [CHARGING, PLUGGED],
    text: (read) => {
      const status = read(CHARGING);
      if (status === 'InProgress') return 'C';
      const plugged = read(PLUGGED) ?? (status === undefined ? undefined : status !== 'Disconnected');
      return plugged === undefined ? '' : plugged === true ? 'B' : 'A';
    },
  },
  {
    name: 'conditioning',
    paths: [CONDITIONING],
    text: (read) => {
      const status = read(CONDITIONING);
      return status === undefined ? '' : String(status === 'Enabled');
    },
  },
];

const slotsOfTopic = combinedTopics.map(({ paths }) => paths.flatMap((path) => slotByPath.get(path) ?? []));

/** Returns the messages of combined topics that depend on one of `changed`, if `sees` permits all their values. */
export function combinedTexts(
  status: Pick<StatusReader, 'value'>,
  changed: ReadonlySet<Slot>,
  sees: (slot: Slot) => boolean,
): readonly (readonly [name: string, text: string])[] {
  const read = (path: string): SlotValue | undefined => {
    const slot = slotByPath.get(path);
    return slot && status.value(slot);
  };
  return combinedTopics.flatMap(({ name, text }, index) => {
    const needed = slotsOfTopic[index] ?? [];
    const isDue = needed.some((slot) => changed.has(slot)) && needed.every(sees);
    return isDue ? [[name, text(read)] as const] : [];
  });
}
