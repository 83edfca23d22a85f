/** A car after a day of driving, and a client that calls its handlers. */

import type { Answer, Caller, Handlers } from '../../../../adapters/http/call.ts';
import { PageTokens } from '../../../../adapters/http/paging.ts';
import type { CallbackBook, CarView, MonitorBook, RemoteBook } from '../../../../adapters/http/resources/car.ts';
import { handlers } from '../../../../adapters/http/resources/index.ts';
import type { StatusReader } from '../../../../agent/model/status.ts';
import type { RecordStore } from '../../../../agent/ports.ts';
import type { RemoteAction, RemoteOrder } from '../../../../agent/remotes/requests.ts';
import { dataCapabilitiesOf } from '../../../../protocol/capabilities.ts';
import { defined } from '../../../../protocol/defined.ts';
import { bases, type Operation } from '../../../../protocol/interface/operation.ts';
import { operations } from '../../../../protocol/interface/operations.ts';
import { readQuery } from '../../../../protocol/interface/parameters.ts';
import { type Callback, readSubscribe } from '../../../../protocol/schema/callback.ts';
import type { Trip } from '../../../../protocol/schema/trip.ts';
import { DAY, type DayLog, MIDNIGHT, vehicle } from '../../../rig/day.ts';
import { Life } from '../../../rig/day-run.ts';
import { KillableStore } from '../../../rig/day-store.ts';
import { MemoryLog } from '../../../rig/log.ts';

export const VIN = 'VF3VGEBENCH000001';
export const ORIGIN = 'https://car.example:8443';
/** Default time of requests, UTC ms. */
export const NOW = MIDNIGHT + DAY;

/** Runs the bench car through its day. */
export async function liveDay(log: DayLog, end = log.count): Promise<Life> {
  const life = new Life(log, new KillableStore(), 1, new MemoryLog(), () => undefined);
  await life.live(end);
  return life;
}

export interface CarParts {
  readonly status: StatusReader;
  readonly records: RecordStore;
  readonly monitors: MonitorBook;
  readonly callbacks?: CallbackBook;
  readonly remotes?: RemoteBook;
  readonly openTrip?: () => Trip | undefined;
}

export function carOf({
  callbacks = new Callbacks(),
  remotes = new Remotes(),
  openTrip = () => undefined,
  ...parts
}: CarParts): CarView {
  const { profile } = vehicle;
  let ids = 0;
  return {
    ...parts,
    callbacks,
    remotes,
    present: (trip) => {
      const open = openTrip();
      return open?.id === trip.id ? open : trip;
    },
    vehicle: {
      vin: VIN,
      id: 'bench car/1',
      motorization: 'Hybrid',
      brand: 'Peugeot',
      label: { default: 'Bench car', fr: 'Voiture banc', 'pt-BR': 'Carro de bancada' },
      pictures: ['https://pictures.example/1.png'],
      createdAt: MIDNIGHT,
      callCenters: { BR: '+55 11 0000' },
    },
    capabilities: {
      data: dataCapabilitiesOf(new Set(profile.sources.map(({ path }) => path))),
      actions: new Set(Object.keys(profile.commands)),
      commands: true,
    },
    fleets: [
      { id: 'f1', name: 'First', description: 'The fleet', createdAt: MIDNIGHT },
      { id: 'f2', createdAt: MIDNIGHT + 1 },
    ],
    user: () => ({ email: 'user@example.com', firstName: 'Ada', lastName: 'L' }),
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
  };
}

/** Stores callbacks like agent/callbacks, without deliveries. */
export class Callbacks implements CallbackBook {
  readonly #all = new Map<string, Callback>();

  list(side: Callback['side']): readonly Callback[] {
    return [...this.#all.values()].filter((one) => one.side === side);
  }

  get(id: string): Callback | undefined {
    return this.#all.get(id);
  }

  put(side: Callback['side'], callbackId: string, input: unknown): Callback {
    const subscribe = readSubscribe(side, input);
    const before = this.#all.get(callbackId);
    const callback: Callback = {
      createdAt: before?.createdAt ?? NOW,
      updatedAt: NOW,
      callbackId,
      side,
      subscribe,
      status: before?.status ?? 'Running',
    };
    this.#all.set(callbackId, callback);
    return callback;
  }

  setStatus(id: string, status: Callback['status']): Callback {
    const before = this.#all.get(id);
    if (before === undefined) throw new Error(`no ${id}`);
    this.#all.set(id, { ...before, status });
    return { ...before, status };
  }

  remove(id: string): boolean {
    return this.#all.delete(id);
  }

  checkMonitor(): void {}
}

/** Stores submitted commands without signing them. */
export class Remotes implements RemoteBook {
  readonly actions: RemoteAction[] = [];

  all(callbackId: string): readonly RemoteAction[] {
    return this.actions.filter((action) => action.callbackId === callbackId);
  }

  get(id: string): RemoteAction | undefined {
    return this.actions.find(({ remoteActionId }) => remoteActionId === id);
  }

  async submit({ callbackId, type, remote }: RemoteOrder): Promise<{ remoteActionId: string }> {
    const remoteActionId = `a${this.actions.length}`;
    this.actions.push({
      remoteActionId,
      ...defined({ callbackId }),
      type,
      remote,
      status: 'Accepted',
      createdAt: NOW,
    });
    return { remoteActionId };
  }
}

/** Options of a request; the defaults are those of a bench without tokens. */
export interface Asking {
  readonly caller?: Caller;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly now?: number;
}

export interface Reply {
  readonly operation: Operation;
  readonly status: number;
  /** Parsed JSON. */
  readonly body: Json;
}

type Objects =
  | '_embedded'
  | '_links'
  | 'adas'
  | 'airConditioning'
  | 'alarm'
  | 'battery'
  | 'branding'
  | 'callback'
  | 'callCenter'
  | 'center'
  | 'doorsState'
  | 'electric'
  | 'energy'
  | 'environment'
  | 'extension'
  | 'fuel'
  | 'geometry'
  | 'lastPosition'
  | 'monitor'
  | 'next'
  | 'oil'
  | 'position'
  | 'preconditioning'
  | 'preconditionning'
  | 'properties'
  | 'remote'
  | 'residual'
  | 'self'
  | 'odometer'
  | 'subscribe'
  | 'subscribeParam'
  | 'trigger'
  | 'vehicle'
  | 'waypoints';
type Lists =
  | 'Collisions'
  | 'alarms'
  | 'alerts'
  | 'energies'
  | 'energyConsumptions'
  | 'engines'
  | 'faults'
  | 'fleets'
  | 'opening'
  | 'positions'
  | 'stolen'
  | 'telemetries'
  | 'vehicles';
type Texts =
  | 'aebs'
  | 'callbackId'
  | 'createdAt'
  | 'endAt'
  | 'fault'
  | 'href'
  | 'id'
  | 'identifier'
  | 'label'
  | 'monitorId'
  | 'remoteActionId'
  | 'startedAt'
  | 'state'
  | 'status'
  | 'tid'
  | 'type'
  | 'updatedAt'
  | 'vin';
type Numbers = 'consumption' | 'distance' | 'mileage' | 'total' | 'speed';

/** Parsed JSON with the fields that tests read. The type does not guarantee that they exist; a test must check. */
export interface Json
  extends Readonly<Record<Objects, Json>>,
    Readonly<Record<Lists, readonly [Json, Json, ...Json[]]>>,
    Readonly<Record<Texts, string>>,
    Readonly<Record<Numbers, number>> {
  readonly coordinates: readonly number[];
  readonly templated: boolean;
  readonly gap?: boolean;
}

/** Entries of a collection by its published name. */
export function entriesOf(body: Json, name: string): readonly Json[] {
  return (body._embedded as unknown as Record<string, readonly Json[]>)[name] ?? [];
}

/** Calls handlers like the server: matches the address, reads its query, and converts the answer to JSON. */
export class Asker {
  readonly #handlers: Handlers;

  /** @param asked the car whose API is called, or the handlers for several cars */
  constructor(asked: CarView | Handlers) {
    const isCar = 'vehicle' in asked && 'records' in asked;
    this.#handlers = isCar
      ? handlers(asked as CarView, new PageTokens(new Uint8Array(32).fill(7)))
      : (asked as Handlers);
  }

  get ids(): readonly string[] {
    return Object.keys(this.#handlers);
  }

  async get(address: string, asking: Asking = {}): Promise<Reply> {
    return this.ask('GET', address, asking);
  }

  /** @param address absolute, or relative to the base path of its API side, e.g. `/user` */
  async ask(
    method: string,
    address: string,
    { caller = { name: 'local' }, body, headers = {}, now = NOW }: Asking = {},
  ): Promise<Reply> {
    const side = address.includes('/connectedcar/v4') || address.startsWith('/user') ? 'user' : 'fleet';
    const base = `${ORIGIN}${bases[side]}`;
    const self = address.startsWith(base) ? address.slice(base.length) : address;
    const url = new URL(`${base}${self}`);
    const below = url.pathname.slice(bases[side].length);
    const { operation, path } = matched(side, method, below);
    const query = readQuery(operation, url.searchParams, now);
    const handler = this.#handlers[operation.id];
    if (handler === undefined) throw new Error(`no handler of ${operation.id}`);
    const answer: Answer = await handler({ operation, path, query, headers, body, caller, base, self, now });
    return {
      operation,
      status: answer.status,
      body: answer.body === undefined ? undefined : JSON.parse(JSON.stringify(answer.body)),
    };
  }
}

function matched(side: string, method: string, path: string): { operation: Operation; path: Record<string, string> } {
  const given = path.split('/');
  for (const operation of operations) {
    if (operation.side !== side || operation.method !== method) continue;
    const wanted = operation.path.split('/');
    if (wanted.length !== given.length) continue;
    const found: Record<string, string> = {};
    const fits = wanted.every((segment, index) => {
      const text = decodeURIComponent(given[index] ?? '');
      if (!segment.startsWith('{')) return segment === text;
      found[segment.slice(1, -1)] = text;
      return text !== '';
    });
    if (fits) return { operation, path: found };
  }
  throw new Error(`no operation ${method} ${side} ${path}`);
}
