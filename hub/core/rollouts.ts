/**
 * Sends a configuration to the cars of a fleet: first to a small group, and on command to the others. The database
 * records everything sent and reported, so that several hubs do not send twice, and a killed hub loses nothing. A car
 * that is away receives the configuration when it sends messages again.
 */
import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ConfigurationOrder } from '../../protocol/schema/order.ts';
import { type HubCommands, isUntrusted } from './commands.ts';
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';
import type { Rollout, RolloutStore } from './rollout-store.ts';

/** Time in ms between two checks for due cars. */
const EVERY = 5_000;
/** Time in ms without messages after which a car counts as away. */
const AWAY = 300_000;
/** Time in ms for which a trial counts as under way: a car reports within ten minutes, plus transmission. */
const UNDER_WAY = 900_000;
/** Largest number of cars in one check. */
const MOST = 100;

interface RolloutsParts {
  readonly store: RolloutStore;
  readonly commands: Pick<HubCommands, 'submit'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** Returns the time in ms to wait for an answer before sending again. The command must have expired by then. */
  readonly wait: (attempts: number) => number;
  readonly newId: () => string;
  readonly log: HubLog;
}

export class Rollouts {
  readonly #parts: RolloutsParts;
  readonly #looks: Looks;

  constructor(parts: RolloutsParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Starts the regular checks. */
  begin(): void {
    this.#looks.begin();
  }

  /** Stops the checks. Resolves when no configurations are being sent any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects. The next check retries after a failure. */
  async #look(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      for (const rollout of await store.rollouts({ underWay: true })) {
        if (this.#looks.stopped) return;
        await this.#serve(rollout);
      }
    } catch (error) {
      log.warn('hub.rollout.failed', { error: (error as Error).message });
    }
  }

  async #serve(rollout: Rollout): Promise<void> {
    const { store, clock, log } = this.#parts;
    const { id, stage, fleet } = rollout;
    const reason = await failureOf(rollout, store);
    if (reason !== undefined) {
      if (await store.setStage(id, stage, 'stopped', { reason }))
        log.warn('hub.rollout.stopped', { id, fleet, reason });
      return;
    }
    if (stage === 'all') await store.enlist(id);
    const now = Math.round(clock.now());
    // Send to at most as many cars at once as have already applied it, so that a broken configuration reaches few cars.
    const room = Math.max(rollout.first, rollout.cars.applied) - (await store.underWay(id, now, now - UNDER_WAY));
    if (room <= 0) return;
    const since = { heard: now - AWAY, trialSince: now - UNDER_WAY };
    const due = await store.dueCars(id, now, since, Math.min(MOST, room));
    const body = due.length === 0 ? undefined : await store.body(id);
    if (body === undefined) return;
    for (const car of due) {
      if (this.#looks.stopped) return;
      await this.#send(rollout, decodeBody('Configuration', body), car);
    }
  }

  async #send(
    { id, name, digest }: Rollout,
    body: object,
    car: Awaited<ReturnType<RolloutStore['dueCars']>>[number],
  ): Promise<void> {
    const { store, commands, clock, wait, newId, log } = this.#parts;
    const { vin } = car;
    const command = newId();
    const at = Math.round(clock.now());
    if (!(await store.claim(id, car, { command, at, due: at + Math.round(wait(car.attempts)) }))) return;
    log.info('hub.rollout.sent', { id, vin });
    const audited = { rollout: id, name, digest };
    try {
      await commands.submit({ id: command, vin, type: 'Configuration', body, audited, caller: `rollout ${id}` });
    } catch (error) {
      if (!isUntrusted(error)) throw error;
      await store.refuse(id, vin, command, error.message, at);
    }
  }
}

/** Extends the roll-out to all cars of the fleet. Rejects with `usage.wrong` and the reason if it may not continue. */
export async function continueRollout(store: RolloutStore, id: string, tolerated?: number): Promise<void> {
  const rollout = await known(store, id);
  const next = { ...rollout, tolerated: tolerated ?? rollout.tolerated };
  const reason = await failureOf(next, store);
  if (reason !== undefined) throw halted(`${reason}; to go on all the same, allow as many cars`);
  if (rollout.cars.applied === 0) throw halted('no car has reported the configuration good yet');
  const underWay = await store.rollouts({ underWay: true });
  const other = underWay.find((one) => one.fleet === rollout.fleet && one.id !== id);
  if (other !== undefined) throw halted(`roll-out "${other.id}" of the same fleet is under way; stop it first`);
  const isSet = await store.setStage(id, rollout.stage, 'all', { tolerated: next.tolerated });
  if (!isSet) throw halted('it was stopped or continued at this moment; look at it again');
}

/**
 * Returns the configuration of an earlier roll-out to the fleet: of the one with this id, or of the newest before the
 * latest that a car kept. `label` makes it differ from the earlier one. Rejects with `usage.wrong` if the fleet has no such roll-out.
 */
export async function earlierRollout(
  store: Pick<RolloutStore, 'rollouts' | 'body'>,
  fleet: string,
  label: string,
  id?: string,
): Promise<{ readonly name: string; readonly order: ConfigurationOrder }> {
  const [, ...earlier] = (await store.rollouts()).filter((one) => one.fleet === fleet);
  const found = earlier.find((one) => (id === undefined ? one.cars.applied > 0 : one.id === id));
  const body = found && (await store.body(found.id));
  if (found === undefined || body === undefined) {
    const which = id === undefined ? 'that a car kept' : `"${id}"`;
    const text = `there was no earlier roll-out ${which} to the fleet "${fleet}": roll out a FILE`;
    throw new VigieError('usage.wrong', text);
  }
  return { name: found.name, order: { ...decodeBody('Configuration', body), label } };
}

/** Returns the roll-out for display. One that must stop appears as stopped before a hub has recorded that. */
export async function presentRollout(rollout: Rollout, store: Pick<RolloutStore, 'failure'>): Promise<Rollout> {
  const reason = rollout.stage === 'stopped' ? undefined : await failureOf(rollout, store);
  return reason === undefined ? rollout : { ...rollout, stage: 'stopped', reason };
}

function halted(reason: string): VigieError {
  return new VigieError('usage.wrong', `the roll-out does not go on: ${reason}`);
}

/** Stops the roll-out. Cars that have the configuration keep it. */
export async function stopRollout(store: RolloutStore, id: string, caller: string): Promise<void> {
  const { stage } = await known(store, id);
  if (stage !== 'stopped') await store.setStage(id, stage, 'stopped', { reason: `stopped by ${caller}` });
}

async function known(store: RolloutStore, id: string): Promise<Rollout> {
  const rollout = await store.rollout(id);
  if (rollout !== undefined) return rollout;
  throw new VigieError('request.unknown', `there is no roll-out "${id}"`);
}

/** Returns the reason why the roll-out may not continue, or undefined if it may. */
async function failureOf(
  { id, cars, tolerated }: Rollout,
  store: Pick<RolloutStore, 'failure'>,
): Promise<string | undefined> {
  const failed = cars.returned + cars.refused;
  if (failed <= tolerated) return undefined;
  const example = await store.failure(id);
  const of =
    example === undefined ? '' : `, such as ${example.vin} (${example.state}: ${example.detail ?? 'no reason given'})`;
  return `${failed} ${failed === 1 ? 'car' : 'cars'} returned or refused it${of}`;
}
