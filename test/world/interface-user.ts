/** A user who sets up monitors and a callback at the interface of a car, and remembers the answers. */
import type { Agent } from '../../agent/agent.ts';
import type { MonitorStatus } from '../../protocol/schema/monitor.ts';

const CALLBACK = 'cb';
const webhook = { target: 'https://receiver.example/events', name: 'n' };

function monitorOf(label: string, data: string, op: string, value: string, subscribeParam: object): object {
  return {
    label,
    subscribeParam,
    triggerParam: { triggers: [{ name: 't', data: { data, op, value: [value] } }], boolExp: 't' },
  };
}

const ofCallback = { callbackId: CALLBACK };
/** By id. */
export const MONITORS: Readonly<Record<string, object>> = {
  a0: monitorOf('driving', 'kinetic.speed', 'greaterThan', '10', { ...ofCallback, refreshEvent: 30 }),
  a1: monitorOf('cold', 'environment.air.temp', 'lowerThan', '3', ofCallback),
  a2: monitorOf('fast', 'kinetic.speed', 'greaterThan', '30', {
    retryPolicy: { policy: 'Always', retryDelay: 10 },
    batchNotify: { size: 5, timeWindow: 20 },
    callback: { webhook },
  }),
};

/** Receiver of the events of a monitor, by its name in the car. */
export function receiverOf(monitorId: string): string {
  return monitorId === 'a2' ? 'monitor/a2' : `callback/${CALLBACK}`;
}

export type MonitorChange = 'Running' | 'Paused' | 'removed';

export class InterfaceUser {
  /** Latest request by monitor, and whether the car has answered it. */
  readonly #asked = new Map<string, { readonly change: MonitorChange; readonly isAnswered: boolean }>();

  /** Requests a change. Rejects if the car refuses it. */
  async change(agent: Agent, id: string, change: MonitorChange): Promise<void> {
    if (agent.callbacks.get(CALLBACK) === undefined) {
      await agent.callbacks.put('user', CALLBACK, { callback: { webhook } });
    }
    const asked = (isAnswered: boolean): void => void this.#asked.set(id, { change, isAnswered });
    asked(false);
    if (change === 'removed') await agent.monitors.remove(id);
    else await agent.monitors.put(id, MONITORS[id], change);
    asked(true);
  }

  /** The data directory of the car was replaced, so earlier answers no longer hold. */
  forget(): void {
    this.#asked.clear();
  }

  /** Descriptions of answers that no longer hold. */
  broken(agent: Agent): string[] {
    return [...this.#asked].flatMap(([id, { change, isAnswered }]) => {
      const there: MonitorStatus | undefined = agent.monitors.get(id)?.status;
      return !isAnswered || (there ?? 'removed') === change ? [] : [`${id} is ${there ?? 'removed'}, not ${change}`];
    });
  }
}
