/** The core of the hub on SQLite in memory: commits survive a kill of the hub. */

import { idOf } from '../../assembly/view.ts';
import { HubCommands } from '../../hub/core/commands.ts';
import { Intake } from '../../hub/core/intake.ts';
import { HubMeasures } from '../../hub/core/measures.ts';
import type { MonitorSync } from '../../hub/core/monitor-sync.ts';
import type { HubLog } from '../../hub/core/ports.ts';
import { ResendRequests } from '../../hub/core/resend.ts';
import { SqliteCommandStore, SqliteDatabase, SqliteMessageStore, SqlReader } from '../../hub/database/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { MonitorList } from '../../protocol/schema/monitor.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { Chance } from './chance.ts';
import { Fleet } from './fleet.ts';
import { HubCallbacks, type HubCallbacksParts } from './hub-callbacks.ts';
import { hubKey } from './keys.ts';
import { WorldRollouts } from './rollouts.ts';
import type { WorldTime } from './time.ts';

/** Start of the world, UTC ms. */
export const BEGIN = Date.UTC(2026, 0, 5, 6);
/** Longest wait before missing messages are requested, ms. */
const LONGEST = 600_000;

export interface HubParts {
  readonly time: WorldTime;
  readonly chance: Chance;
  readonly send: (vin: string, topic: string, payload: Uint8Array) => void;
  readonly log: HubLog;
  /** Called for a message that was acknowledged and is not in the database. */
  readonly lacks: (what: string) => void;
  /** Cars that may belong to a fleet. If omitted, there is no fleet. */
  readonly vins?: readonly string[] | undefined;
  /** Whether the fleet has callbacks. */
  readonly callbacks: boolean;
  /** Whether the fleet gets configurations. */
  readonly rollouts: boolean;
  readonly broken: HubCallbacksParts['broken'];
}

interface HubRun {
  alive: boolean;
  readonly intake: Intake;
  readonly commands: HubCommands;
  readonly monitors: MonitorSync | undefined;
}

export class WorldHub {
  readonly database: SqliteDatabase;
  readonly reader: SqlReader;
  readonly fleet: Fleet | undefined;
  readonly callbacks: HubCallbacks | undefined;
  readonly rollouts: WorldRollouts | undefined;
  /** Whether the database refuses commits. */
  refuses = false;
  /** Number of commits before the hub is killed, between commit and acknowledgement. */
  killAfter = Number.POSITIVE_INFINITY;
  /** Called when it was killed that way. */
  killed: () => void = () => undefined;
  /** Payloads that are not a message of their topic. */
  readonly garbage = new WeakSet<Uint8Array>();
  readonly #parts: HubParts;
  readonly #store: SqliteMessageStore;
  readonly #audit: SqliteCommandStore;
  #run: HubRun | undefined;
  /** Messages that were neither acknowledged nor refused. */
  readonly #pending = new Set<(error: Error) => void>();
  #ids = 0;

  private constructor(database: SqliteDatabase, parts: HubParts) {
    this.#parts = parts;
    this.database = database;
    this.reader = new SqlReader(database.select);
    const { time, chance, broken } = parts;
    const now = (): number => time.now + BEGIN;
    this.fleet = parts.vins && new Fleet(database, parts.vins, now, parts.callbacks);
    this.callbacks =
      this.fleet && parts.callbacks
        ? new HubCallbacks({ database, time, now, chance: chance.fork('receivers'), fleet: this.fleet, broken })
        : undefined;
    this.rollouts = parts.rollouts ? new WorldRollouts(database, now) : undefined;
    this.#store = new SqliteMessageStore(database, idOf);
    this.#audit = new SqliteCommandStore(database);
  }

  static async open(parts: HubParts): Promise<WorldHub> {
    const hub = new WorldHub(await SqliteDatabase.open(':memory:'), parts);
    await hub.callbacks?.prepare();
    return hub;
  }

  get up(): boolean {
    return this.#run !== undefined;
  }

  start(): void {
    const { time, chance, send, log } = this.#parts;
    const clock = { now: () => time.now + BEGIN };
    const run: { alive: boolean } = { alive: true };
    const quiet: HubLog = {
      info: (event, fields) => run.alive && log.info(event, fields),
      warn: (event, fields) => run.alive && log.warn(event, fields),
      error: (event, fields) => run.alive && log.error(event, fields),
    };
    const deliveries = this.callbacks?.begin(() => run.alive, quiet);
    const intake = new Intake({
      waiting: () => deliveries?.wake(),
      clock,
      log: quiet,
      measures: new HubMeasures(clock),
      soon: (work) => void time.after(1, () => run.alive && work()),
      // Commits have their own duration, below.
      after: (_delay, due) => {
        due();
        return () => undefined;
      },
      store: {
        refuses: (error) => this.#store.refuses(error),
        takeIn: (vin, options) => this.#store.takeIn(vin, options),
        save: async (messages, refused) => {
          if (!run.alive) return new Promise<never>(() => undefined);
          await time.wait(chance.between(1, 20));
          if (!run.alive) return new Promise<never>(() => undefined);
          if (this.refuses) throw new VigieError('store.failed', 'the disk of the hub is full');
          const committed = this.callbacks?.expect(messages);
          const saved = await this.#store.save(messages, refused);
          committed?.();
          if (--this.killAfter > 0) return saved;
          this.kill();
          this.killed();
          return new Promise<never>(() => undefined);
        },
      },
    });
    const commands = new HubCommands({
      store: this.#audit,
      keys: () => [{ id: hubKey.hex, sign: (payload) => hubKey.sign(payload) }],
      clock,
      log: quiet,
      publish: async (topic, payload) => send(topic.split('/')[2] ?? '', topic, payload),
    });
    const resends = new ResendRequests({
      store: this.reader,
      commands,
      clock,
      after: (delay, due) => time.after(delay, () => run.alive && due()),
      wait: (attempts) => Math.min(LONGEST, 60_000 * 2 ** attempts) * (0.5 + chance.real() / 2),
      newId: () => `resend-${++this.#ids}`,
      log: quiet,
    });
    resends.begin();
    const after = (delay: number, due: () => void): (() => void) => time.after(delay, () => run.alive && due());
    const newId = (): string => `fleet-${++this.#ids}`;
    const monitors = this.fleet?.begin({ commands, clock, after, log: quiet, newId }, this.#parts.chance.fork('fleet'));
    const ofRollouts = { commands, clock, after, log: quiet, newId: () => `configuration-${++this.#ids}` };
    this.rollouts?.begin(ofRollouts, this.#parts.chance.fork('rollouts'));
    this.#run = Object.assign(run, { intake, commands, monitors });
  }

  /** Kills the hub: commits stay, and unacknowledged messages are repeated. */
  kill(): void {
    if (this.#run === undefined) return;
    this.#run.alive = false;
    this.#run = undefined;
    this.killAfter = Number.POSITIVE_INFINITY;
    for (const reject of [...this.#pending]) reject(new Error('the hub was killed'));
  }

  /** Resolves when the message may be acknowledged. */
  accept(topic: string, payload: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#run === undefined) {
        reject(new Error('the hub is down'));
        return;
      }
      const fail = (error: Error): void => {
        this.#pending.delete(fail);
        reject(error);
      };
      this.#pending.add(fail);
      this.#run.intake.accept(topic, payload).then(() => {
        if (!this.#has(topic, payload)) this.#parts.lacks(topic);
        this.#pending.delete(fail);
        resolve();
      }, fail);
    });
  }

  #has(topic: string, payload: Uint8Array): boolean {
    if (this.garbage.has(payload)) {
      // MQTT uses an empty payload to clear a retained message.
      if (payload.length === 0) return true;
      return this.database.one('SELECT 1 FROM refused WHERE topic = ? AND payload = ?', topic, payload) !== undefined;
    }
    const { seq, kind } = decodeMessage(payload);
    const row = this.database.one(
      `SELECT 1 FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ? AND class = ? AND seq = ? AND payload = ?`,
      topic.split('/')[2] ?? '',
      classOf(kind),
      seq,
      payload,
    );
    return row !== undefined;
  }

  /** Latest monitor list of the car, as the hub compares it. Undefined if there is none. */
  monitorList(vin: string): MonitorList['monitors'] | undefined {
    const row = this.database.one(
      'SELECT document FROM reported_monitors JOIN vehicles ON vehicles.id = vehicle WHERE vin = ?',
      vin,
    );
    return row === undefined ? undefined : (JSON.parse(row['document'] as string) as MonitorList['monitors']);
  }

  /** A caller of the fleet sends a command through the callback. Rejects if the hub refuses it. */
  async submit(id: string, vin: string, type: CommandKind, body: object): Promise<void> {
    const through = this.callbacks?.through(id, vin);
    if (through !== undefined) await this.#run?.commands.submit({ id, vin, type, body, caller: 'fleet', through });
  }

  /** A car has subscribed. */
  subscribed(vin: string): void {
    this.#run?.commands
      .resend(vin)
      .then(() => this.#run?.monitors?.online(vin))
      .catch((error: Error) => this.#parts.log.warn('hub.command.unsent', { vin, error: error.message }));
  }

  close(): void {
    this.kill();
    this.database.close();
  }
}
