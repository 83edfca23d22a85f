/** Valid bodies by name of their form, and all resources that can be created, changed and deleted. */
import type { Operation, RequestName, Side } from '../../protocol/interface/operation.ts';
import { bases } from '../../protocol/interface/operation.ts';
import type { InterfaceBench } from './interface.ts';

/** A port without a listener (RFC 863). The bench may send requests there. */
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

/** Ids by the names of path parameters. */
export type Ids = Record<string, string>;

/** Address of an operation. Unknown parameters stay in braces. */
export function addressOf({ side, path }: Operation, ids: Ids): string {
  return `${bases[side]}${path.replace(/\{(\w+)\}/g, (name, id: string) => encodeURIComponent(ids[id] ?? name))}`;
}

/** Addresses of user monitors created by {@link Belongings}, by bench. */
const userMonitors = new WeakMap<InterfaceBench, string[]>();

/** Resources of one side, created over the interface. */
export class Belongings {
  readonly ids: Ids;
  readonly side: Side;
  readonly #bench: InterfaceBench;
  readonly #headers: Readonly<Record<string, string>>;

  /** `ids`: fleet and vehicle. `headers`: credentials of the creator. */
  constructor(bench: InterfaceBench, side: Side, ids: Ids, headers: Readonly<Record<string, string>> = {}) {
    this.#bench = bench;
    this.#headers = headers;
    this.side = side;
    this.ids = ids;
  }

  /** Creates a callback. From now on all operations below callbacks refer to it. */
  async callback(): Promise<string> {
    const fleet = this.side === 'fleet';
    const path = fleet ? '/fleets/{fid}/remote/callbacks' : '/user/callbacks';
    return this.#make(path, rightBodies[fleet ? 'fleetCallback' : 'userCallback'], 'cbid', 'callbackId');
  }

  /**
   * Creates a monitor, on the user side below the latest callback. A user can have five, so only the first and the two
   * newest of those created here are kept.
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

  /** Sends a command under the latest callback. */
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
