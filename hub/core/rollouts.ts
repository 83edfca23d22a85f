/**
 * Sends a configuration to the cars of a fleet: to a few first, and to the others on command. What was sent and reported is in
 * the database, so of several hubs one sends, and a hub that is killed changes nothing. A car that is away gets it when it is
 * heard again.
 */
import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { HubCommands } from './commands.ts';
import { Looks } from './looks.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';
import type { Rollout, RolloutStore } from './rollout-store.ts';

/** Between two looks at what is due, ms. */
const EVERY = 5_000;
/** A car without messages for longer is away, ms. */
const AWAY = 300_000;
/** A car that has it on trial reports within ten minutes what became of it; some more for the way, ms. */
const UNDER_WAY = 900_000;
/** Cars that one look serves. */
const MOST = 100;

interface RolloutsParts {
  readonly store: RolloutStore;
  readonly commands: Pick<HubCommands, 'submit'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** How long a car has to answer before it is sent again, ms; a command must have expired by then. */
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

  /** Sends by itself from now on. */
  begin(): void {
    this.#looks.begin();
  }

  /** Resolves when nothing is sent any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects: what failed is tried at the next look. */
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
    // As many at once as have reported it good: a configuration that is bad for the fleet reaches few cars.
    const room = Math.max(rollout.first, rollout.cars.applied) - (await store.underWay(id, now, now - UNDER_WAY));
    if (room <= 0) return;
    const due = await store.dueCars(id, now, now - AWAY, Math.min(MOST, room));
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
    await commands.submit({ id: command, vin, type: 'Configuration', body, audited, caller: `rollout ${id}` });
  }
}

/** Continues to all cars of the fleet. Rejects with `usage.wrong` and the reason if the roll-out may not continue. */
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

/** The roll-out as people see it: one that must stop counts as stopped before a hub has recorded that. */
export async function presentRollout(rollout: Rollout, store: Pick<RolloutStore, 'failure'>): Promise<Rollout> {
  const reason = rollout.stage === 'stopped' ? undefined : await failureOf(rollout, store);
  return reason === undefined ? rollout : { ...rollout, stage: 'stopped', reason };
}

function halted(reason: string): VigieError {
  return new VigieError('usage.wrong', `the roll-out does not go on: ${reason}`);
}

/** No further car gets it; those that have it keep it. */
export async function stopRollout(store: RolloutStore, id: string, caller: string): Promise<void> {
  const { stage } = await known(store, id);
  if (stage !== 'stopped') await store.setStage(id, stage, 'stopped', { reason: `stopped by ${caller}` });
}

async function known(store: RolloutStore, id: string): Promise<Rollout> {
  const rollout = await store.rollout(id);
  if (rollout !== undefined) return rollout;
  throw new VigieError('request.unknown', `there is no roll-out "${id}"`);
}

/** Why a roll-out may not go on; undefined: it may. */
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
