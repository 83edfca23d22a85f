/** Observes custom signals and collections: catalogs, arriving values, and running collections. */
import { final } from '../../agent/remotes/ledger.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { hex } from '../../protocol/hex.ts';
import { CarDecoder } from '../../protocol/receiver.ts';
import type { Catalog } from '../../protocol/schema/catalog.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';
import { type SignalsJson, signalSeries } from '../../protocol/signals/telemetry.ts';
import type { SentCommand } from './caller.ts';
import type { WorldCar } from './car.ts';
import type { WorldHub } from './hub.ts';
import type { Breaches } from './invariants.ts';
import { findMark } from './marks.ts';
import { commandOf } from './signals.ts';
import type { Unit } from './unit.ts';

/** Time within which an agent ends an expired collection, ms. */
const NOTICED = 5_000;
/** Time within which a reading from the buses arrives once everything is quiet, ms. */
const RECENT = 60_000;

interface Asked {
  readonly id: string;
  readonly until: number | undefined;
  /** Final state of the command. Undefined: none was reported. */
  end?: string;
}

export interface SignalWatchParts {
  readonly breaches: Breaches;
  readonly commands: ReadonlyMap<string, SentCommand>;
  readonly cars: ReadonlyMap<string, WorldCar>;
}

export class SignalWatch {
  readonly #parts: SignalWatchParts;
  /** By car and name of the collection: the latest command. */
  readonly #asked = new Map<string, Asked>();
  readonly #came = new Set<string>();
  /** By catalog: numbers of its messages in this life of the data directory. */
  readonly #numbers = new Map<string, Set<string>>();
  /** Catalogs that a broker may lose, because the car does not have them any more. */
  readonly #losable = new Set<string>();

  constructor(parts: SignalWatchParts) {
    this.#parts = parts;
  }

  /** A clock that is set shifts times: of readings before the time was known, and of the latest ones. */
  logged(unit: Unit, event: string, fields: unknown): void {
    if (event !== 'clock.stepped') return;
    const { by } = fields as { readonly by: number };
    this.#parts.cars.get(unit.vin)?.signals.corrected(by);
    this.#passes(unit, by);
  }

  /** The car has numbered a catalog. `number`: its class and number. */
  numbered({ diskRefused }: Unit, { catalog }: Catalog, number: string): void {
    const key = hex(catalog);
    this.#numbers.set(key, (this.#numbers.get(key) ?? new Set()).add(number));
    if (diskRefused) this.#losable.add(key);
  }

  /** A genuine command has reached a car. */
  received({ vin }: Unit, { id, collects }: SentCommand): void {
    // A repeated command requests nothing new.
    if (collects === undefined || this.#came.has(id)) return;
    this.#came.add(id);
    this.#asked.set(`${vin} ${collects.name}`, { id, until: collects.until });
  }

  /** The car publishes a command state. A state that it could not write may differ after its next start. */
  told({ vin, diskRefused }: Unit, { remoteActionId: id, status, failureCause: cause }: RemoteReport): void {
    const asked = this.#asked.get(`${vin} ${this.#parts.commands.get(id)?.collects?.name}`);
    if (asked?.id === id && final(status)) asked.end ??= diskRefused ? 'unknown' : (cause ?? status);
  }

  /** The data directory of the car was replaced: it knows no command. */
  replaced({ vin }: Unit): void {
    for (const key of this.#asked.keys()) if (key.startsWith(`${vin} `)) this.#asked.delete(key);
    for (const catalog of this.#numbers.keys()) this.#losable.add(catalog);
    this.#numbers.clear();
  }

  /** Called every few seconds. */
  look(unit: Unit): void {
    const { run, vin } = unit;
    if (run?.collections === undefined || run.clock.quality() === 'none') return;
    this.#passes(unit);
    const { running } = run.collections;
    for (const [key, { id, until, end }] of this.#asked) {
      if (!key.startsWith(`${vin} `) || end !== 'Success' || until === undefined) continue;
      if (!running.some((one) => one.until === until)) this.#broken(`${vin} ${id} ended with Success and does not run`);
    }
  }

  /** Final check, when everything is quiet. `given`: numbers in gap messages. */
  settle(unit: Unit, hub: WorldHub, given: ReadonlySet<string>): void {
    const { run, vin } = unit;
    if (run?.collections === undefined) return;
    this.look(unit);
    const now = run.clock.now();
    for (const { name, until } of run.collections.running) {
      const asked = this.#asked.get(`${vin} ${name}`);
      const said = `${vin} collection ${name}`;
      if (until < now - NOTICED) this.#broken(`${said} still runs ${now - until} ms after its end`);
      if (asked?.end === 'Success' && asked.until !== until)
        this.#broken(`${said} runs, not what ${asked.id} asked for`);
      if (asked?.end === 'WrongCommand' && asked.until === until) this.#broken(`${said} runs; ${asked.id} was refused`);
    }
    for (const [catalog, numbers] of this.#numbers)
      if ([...numbers].some((number) => given.has(number))) this.#losable.add(catalog);
    this.#readings(unit, hub, now);
    for (const { id, record } of run.store.records.list('signals')) {
      // In this world only marked values are negative integers.
      const isMarked = signalSeries(record as Telemetry).some(({ values }) => values.some((value) => value < 0));
      if (isMarked) this.#parts.breaches.add('private', `${vin} keeps a marked value in signals ${id}`);
    }
  }

  #readings({ vin, run }: Unit, hub: WorldHub, now: number): void {
    const { breaches } = this.#parts;
    const rows = hub.database.all(
      'SELECT payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ? ORDER BY messages.id',
      vin,
    ) as unknown as readonly { payload: Uint8Array }[];
    const decoder = new CarDecoder();
    const telemetry: Uint8Array[] = [];
    for (const { payload } of rows) {
      const { kind } = decodeMessage(payload);
      if (kind === 'catalog') decoder.decode(payload);
      if (kind === 'telemetry') telemetry.push(payload);
    }
    const newest = new Map<string, number>();
    for (const payload of telemetry) {
      const body = decoder.decode(payload).body as Partial<SignalsJson>;
      for (const { name, unit, at, values } of body.signals ?? []) {
        if (name.startsWith('#')) {
          if (!this.#losable.has(String(body.catalog)))
            breaches.add('catalogs', `${vin}: no catalog ${body.catalog} for ${name}`);
        } else
          for (const [i, value] of values.entries()) this.#reading(vin, { name, unit, value, at: at[i] as number });
        newest.set(name, Math.max(newest.get(name) ?? 0, ...at));
      }
    }
    const expected = (run?.collections?.running ?? []).flatMap(({ name, until }) => {
      const asked = this.#asked.get(`${vin} ${name}`);
      return asked?.end === 'Success' && until > now ? [`${asked.id}.counter`] : [];
    });
    for (const name of ['World.Counter', ...expected]) {
      const last = newest.get(name) ?? 0;
      if (last < now - RECENT) this.#broken(`${vin} has sent no ${name} for ${now - last} ms`);
    }
  }

  #reading(
    vin: string,
    { name, unit, value, at }: { name: string; unit: string | undefined; value: unknown; at: number },
  ): void {
    const { breaches, commands, cars } = this.#parts;
    const said = `${vin} ${name} = ${String(value)} ${unit ?? ''} at ${at}`;
    if (cars.get(vin)?.signals.has(name, unit, value, at) !== true) breaches.add('values', said);
    const mark = findMark(value);
    if (mark !== undefined) breaches.add('private', said);
    const id = commandOf(name);
    if (id === undefined) return;
    const until = commands.get(id)?.collects?.until ?? 0;
    if (at >= until) this.#broken(`${said}, ${at - until} ms after its end`);
  }

  /** A collection that has expired by a clock since set back by `by` ms stays expired. */
  #passes({ vin, run }: Unit, by = 0): void {
    if (run === undefined || run.clock.quality() === 'none') return;
    const latest = run.clock.now() - Math.min(0, by);
    for (const [key, { until = Number.POSITIVE_INFINITY }] of this.#asked) {
      if (key.startsWith(`${vin} `) && until < latest + NOTICED) this.#asked.delete(key);
    }
  }

  #broken(what: string): void {
    this.#parts.breaches.add('collections', what);
  }
}
