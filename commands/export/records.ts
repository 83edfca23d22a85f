/** Records, events and trips as tables: each record in its newest form. */

import { Lives } from '../../hub/core/lives.ts';
import { isAfter } from '../../hub/core/message.ts';
import { type MessageLine, timeOf } from '../../protocol/interface/own/message-pages.ts';
import type { TripClass } from '../../protocol/interface/own/trip-classes.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { type Trip, tripBegin } from '../../protocol/schema/trip.ts';
import type { ExportPeriod } from './readings.ts';
import type { Spool } from './spool.ts';
import type { Cell, ExportColumn, ExportTable } from './table.ts';

interface Kept {
  readonly at: number;
  readonly index: number;
  readonly boot: number;
  readonly seq: number;
}

abstract class NewestRecords implements ExportTable {
  abstract readonly columns: readonly ExportColumn[];
  abstract readonly place: ExportTable['place'];
  readonly isTrack = false;
  readonly #spool: Spool;
  readonly #period: ExportPeriod;
  readonly #lives = new Lives();
  readonly #newest = new Map<string, Kept>();

  constructor(spool: Spool, period: ExportPeriod) {
    this.#spool = spool;
    this.#period = period;
  }

  get readings(): number {
    return this.#newest.size;
  }

  /** Adds the record of a message if it belongs to the period. Returns 1 if it does. */
  add(line: MessageLine): number {
    const { kind, seq, boot, body } = line;
    const at = this.timeOf(line);
    if (at < this.#period.from || at >= this.#period.to) return 0;
    const { id } = body as { readonly id?: string };
    const order = { boot: this.#lives.startOf(boot), seq };
    // Events are separate records, and a command has an entry for each state.
    const key =
      kind === 'event' || kind === 'remote' || id === undefined ? `${kind} ${order.boot} ${seq}` : `${kind} ${id}`;
    const known = this.#newest.get(key);
    if (known === undefined || isAfter(order, known))
      this.#newest.set(key, { ...order, at, index: this.#spool.add(line) });
    return 1;
  }

  async *rows(): AsyncGenerator<readonly Cell[]> {
    for (const { at, index } of [...this.#newest.values()].sort((a, b) => a.at - b.at || a.index - b.index)) {
      yield this.cells(this.#spool.read(index) as MessageLine, at);
    }
  }

  protected timeOf(line: MessageLine): number {
    return timeOf(line as unknown as Message);
  }

  protected abstract cells(line: MessageLine, at: number): readonly Cell[];
}

export class RecordsTable extends NewestRecords {
  readonly columns: readonly ExportColumn[] = [
    { name: 'time', type: 'time' },
    { name: 'kind', type: 'text' },
    { name: 'id', type: 'text' },
    { name: 'boot', type: 'number' },
    { name: 'seq', type: 'number' },
    { name: 'latitude', unit: 'deg', type: 'number' },
    { name: 'longitude', unit: 'deg', type: 'number' },
    { name: 'body', type: 'text' },
  ];
  readonly place = { latitude: 5, longitude: 6 };

  protected cells({ kind, boot, seq, body = {} }: MessageLine, at: number): readonly Cell[] {
    const { id } = body as { readonly id?: string };
    const [longitude, latitude] =
      Object.values(body)
        .map(coordinatesIn)
        .find((found) => found !== undefined) ?? [];
    return [at, kind, id, boot, seq, latitude, longitude, JSON.stringify(body)];
  }
}

export class TripsTable extends NewestRecords {
  readonly columns: readonly ExportColumn[] = [
    { name: 'start', type: 'time' },
    { name: 'end', type: 'time' },
    { name: 'id', type: 'text' },
    { name: 'done', type: 'boolean' },
    { name: 'class', type: 'text' },
    { name: 'start.latitude', unit: 'deg', type: 'number' },
    { name: 'start.longitude', unit: 'deg', type: 'number' },
    { name: 'end.latitude', unit: 'deg', type: 'number' },
    { name: 'end.longitude', unit: 'deg', type: 'number' },
    { name: 'start.mileage', unit: 'km', type: 'number' },
    { name: 'distance', unit: 'km', type: 'number' },
    { name: 'duration', unit: 's', type: 'number' },
    { name: 'electric', unit: 'Wh', type: 'number' },
    { name: 'fuel', unit: 'cL', type: 'number' },
    { name: 'faults', type: 'text' },
  ];
  readonly place = { latitude: 5, longitude: 6 };
  #classes: ReadonlyMap<string, TripClass> = new Map();

  /** @param classes classes by the ids of the trips */
  classify(classes: ReadonlyMap<string, TripClass> = new Map()): void {
    this.#classes = classes;
  }

  protected override timeOf({ body }: MessageLine): number {
    return tripBegin(body as Trip);
  }

  protected cells({ body }: MessageLine, at: number): readonly Cell[] {
    const { id, done = false, stoppedAt, startMileage, distance, duration, faults = [], ...trip } = body as Trip;
    const used = (energy: string): Cell => trip.energyConsumptions?.find(({ type }) => type === energy)?.consumption;
    const [startLongitude, startLatitude] = coordinatesIn(trip.startPosition) ?? [];
    const [endLongitude, endLatitude] = coordinatesIn(trip.stopPosition) ?? [];
    const places = [startLatitude, startLongitude, endLatitude, endLongitude];
    const shown = faults.map(({ fault, cause }) => [fault, cause].filter((word) => word !== undefined).join(' '));
    const energies = [used('Electric'), used('Fuel')];
    const totals = [startMileage, distance, duration, ...energies, shown.join('; ') || undefined];
    return [at, stoppedAt, id, done, this.#classes.get(id), ...places, ...totals];
  }
}

/** Returns the coordinates of a GeoJSON feature; undefined for other values. */
function coordinatesIn(value: unknown): readonly number[] | undefined {
  const { geometry } = (value ?? {}) as { readonly geometry?: { readonly coordinates?: readonly number[] } };
  return geometry?.coordinates;
}
