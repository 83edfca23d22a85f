/** Bodies that are right, by the name of their form, and everything that can be made, changed and taken away. */
import type { Operation, RequestName, Side } from '../../protocol/interface/operation.ts';
import { bases } from '../../protocol/interface/operation.ts';
import type { InterfaceBench } from './interface.ts';

/** Nobody listens there (RFC 863); the bench may try. */
const target = 'http://127.0.0.1:9/';

const triggerParam = {
  triggers: [{ name: 'cold', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } }],
  boolExp: 'cold',
};

export const rightBodies: Readonly<Record<RequestName, object>> = {
  fleetMonitor: {
    label: 'cold',
    subscribeParam: {
      refreshEvent: 120,
      retryPolicy: { policy: 'Always' },
      callback: { webhook: { target, name: 'n', attributes: [{ type: 'Query', key: 'k', value: '$vin' }] } },
    },
    extendedEventParam: ['vehicle.status'],
    triggerParam,
  },
  userMonitor: { label: 'cold', triggerParam },
  fleetCallback: {
    label: 'outcomes',
    retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
    callback: { webhook: { target, name: 'n' } },
    remoteTypes: ['Doors', 'Horn', 'Lights'],
  },
  userCallback: {
    label: 'mine',
    type: ['Monitor', 'Remote'],
    callback: { webhook: { target, name: 'n', attributes: [{ type: 'Header', key: 'k', value: '$Vin' }] } },
  },
  fleetRemote: { label: 'lock', door: { state: 'Locked' } },
  userRemote: { label: 'lights', lights: { on: true } },
  statusSetter: { status: 'Paused' },
};

/** Ids by the names in braces of paths. */
export type Ids = Record<string, string>;

/** The address of an operation; names that are not known stay in braces. */
export function addressOf({ side, path }: Operation, ids: Ids): string {
  return `${bases[side]}${path.replace(/\{(\w+)\}/g, (name, id: string) => encodeURIComponent(ids[id] ?? name))}`;
}

/** Addresses of the user's monitors that were made by {@link Belongings}, by bench. */
const userMonitors = new WeakMap<InterfaceBench, string[]>();

/** Things of one side that somebody made over the interface. */
export class Belongings {
  readonly ids: Ids;
  readonly side: Side;
  readonly #bench: InterfaceBench;
  readonly #headers: Readonly<Record<string, string>>;

  /** `ids`: of the fleet and the vehicle; `headers`: with the credentials of whoever makes them. */
  constructor(bench: InterfaceBench, side: Side, ids: Ids, headers: Readonly<Record<string, string>> = {}) {
    this.#bench = bench;
    this.#headers = headers;
    this.side = side;
    this.ids = ids;
  }

  /** A new callback, with all operations below it meant from now on. */
  async callback(): Promise<string> {
    const fleet = this.side === 'fleet';
    const path = fleet ? '/fleets/{fid}/remote/callbacks' : '/user/callbacks';
    return this.#make(path, rightBodies[fleet ? 'fleetCallback' : 'userCallback'], 'cbid', 'callbackId');
  }

  /**
   * A new monitor, on the user side below the callback made last. A user has five at most: the first and the two newest
   * of those made here stay.
   */
  async monitor(): Promise<string> {
    if (this.side === 'fleet') {
      return this.#make('/fleets/{fid}/monitors', rightBodies.fleetMonitor, 'mid', 'monitorId');
    }
    const kept = userMonitors.get(this.#bench) ?? [];
    userMonitors.set(this.#bench, kept);
    const [old] = kept.length < 3 ? [] : kept.splice(1, 1);
    if (old !== undefined) await this.#bench.ask('DELETE', old, { headers: this.#headers });
    const path = '/user/vehicles/{id}/callbacks/{cbid}/monitors';
    const id = await this.#make(path, rightBodies.userMonitor, 'mid', 'monitorId');
    kept.push(`${bases.user}${this.#filled(path)}/${id}`);
    return id;
  }

  /** A command, given with the callback made last. */
  async remote(): Promise<string> {
    const fleet = this.side === 'fleet';
    const vehicle = fleet ? '/fleets/{fid}/vehicles/{vid}' : '/user/vehicles/{id}';
    const body = rightBodies[fleet ? 'fleetRemote' : 'userRemote'];
    return this.#make(`${vehicle}/callbacks/{cbid}/remotes`, body, 'rid', 'remoteActionId');
  }

  #filled(path: string): string {
    return path.replace(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(this.ids[id] ?? ''));
  }

  async #make(path: string, body: object, name: string, member: string): Promise<string> {
    const address = `${bases[this.side]}${this.#filled(path)}`;
    const answer = await this.#bench.ask('POST', address, { body, headers: this.#headers });
    const id = (answer.json as Record<string, unknown>)[member];
    if (answer.status >= 300 || typeof id !== 'string') throw new Error(`${path}: ${answer.status} ${answer.text}`);
    this.ids[name] = id;
    return id;
  }
}
