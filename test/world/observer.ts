/** Observes all units and the hub, and reports broken invariants. */
import { isDeepStrictEqual } from 'node:util';
import type { Log, OutgoingMessage } from '../../agent/ports.ts';
import { final } from '../../agent/remotes/ledger.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classes, classOf } from '../../protocol/classes.ts';
import { openCommand } from '../../protocol/command.ts';
import { attempt, VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import { decode } from '../../protocol/receiver.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import { type Message, UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../../protocol/schema/message.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { FORGED, kindOf, type SentCommand } from './caller.ts';
import { EFFECTS, type WorldCar } from './car.ts';
import type { WorldHub } from './hub.ts';
import { interlock, isShown, objection } from './interlocks.ts';
import type { Breaches, Invariant } from './invariants.ts';
import { findMark, findMarkIn } from './marks.ts';
import { occurrenceOf, programAction, programFault } from './programs.ts';
import { unfounded } from './refusals.ts';
import { SignalWatch } from './signal-watch.ts';
import type { WorldTime } from './time.ts';
import type { Unit, UnitWatcher } from './unit.ts';
import { Watched } from './watched.ts';

/** More messages than any car of these worlds creates while it is away. */
const WAITING = 5_000;
/** Bytes allowed beyond the outbox limit, because messages in flight and gap messages are never dropped. */
const BEYOND = 96 * 1024;
/** Longest duration of an orderly stop, with and without a connection, ms, besides syncs. The exit has closed before. */
const [STOPS, STOPS_OFFLINE] = [20_000, 2_500];
/** Longest time from the beginning of a command to its frame, ms. */
const UNDER_WAY = 60_000;
/** Minimum time between two answers to a repeated command, ms (docs/commands.md). */
const REPEATED = 60_000;

export interface ObserverParts {
  readonly time: WorldTime;
  readonly breaches: Breaches;
  readonly commands: ReadonlyMap<string, SentCommand>;
  readonly cars: ReadonlyMap<string, WorldCar>;
  readonly tell: (who: string, what: string) => void;
  readonly note: (who: string, what: string, bytes?: Uint8Array) => void;
  /** Whether the broker keeps every message that it has acknowledged, so that none is requested again. */
  readonly keepsAll: boolean;
  /** The minimal agent of a unit has ended, because the disk returns its records again. */
  readonly restarts: (unit: Unit) => void;
  /** A unit must restart with another configuration. */
  readonly reconfigured: (unit: Unit) => void;
  /** Called when a car has reported that it no longer trusts a key. */
  readonly revoked: (vin: string, key: string) => void;
}

/** Fields of a log line about a command that has failed. */
interface RefusedCommand {
  readonly id: string;
  readonly code: string;
  readonly detail: string;
}

export class Observer implements UnitWatcher {
  readonly counts = { published: 0, acts: 0, ended: 0, starts: 0, events: 0 };
  readonly #parts: ObserverParts;
  readonly #watched = new Map<string, Watched>();
  readonly #signals: SignalWatch;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    this.#signals = new SignalWatch(parts);
  }

  opened(unit: Unit): void {
    const watched = this.#of(unit);
    for (const id of watched.underWay.values()) watched.interrupted.add(id);
    watched.underWay = new Map();
    watched.answered = new Map();
    watched.history.opened();
    for (const [priority, number] of watched.stopped?.entries() ?? []) {
      const next = unit.run?.store.outbox.nextSeq(priority) ?? 0;
      if (next < number && !watched.isDamaged)
        this.#parts.breaches.add('stops', `${unit.vin} had class ${priority} up to ${number}, has up to ${next}`);
    }
    watched.stopped = undefined;
    watched.trialStarts++;
    watched.boots.add(unit.run?.boot ?? 0);
    this.counts.starts++;
    this.#parts.tell(unit.vin, `begins start ${unit.run?.boot}`);
  }

  closed(unit: Unit, power: boolean): void {
    const { answers, acknowledged } = this.#of(unit);
    answers.ended(this.#parts.time.now, unit.diskRefused);
    if (unit.diskRefused) this.#of(unit).wasRefused = true;
    acknowledged.ended(this.#parts.time.now, power, unit.diskRefused);
    for (const [path, bytes] of unit.disk.files) {
      const mark = findMarkIn(bytes);
      if (mark !== undefined) this.#parts.breaches.add('private', `${unit.vin} keeps ${mark} in ${path}`);
    }
  }

  /**
   * An orderly stop begins; if there is an exit, it has closed. The returned function is called at the end of the stop,
   * with the next number of each class.
   */
  stops(unit: Unit): (numbers: readonly number[] | undefined) => void {
    const { time, breaches } = this.#parts;
    const watched = this.#of(unit);
    const { run } = unit;
    const begun = time.now;
    const synced = unit.disk.syncing;
    const isOffline = run?.link.connected === false;
    return (numbers) => {
      watched.stopped = unit.diskRefused ? undefined : numbers;
      const took = time.now - begun - (unit.disk.syncing - synced);
      if (unit.diskRefused || took <= (isOffline ? STOPS_OFFLINE : STOPS)) return;
      breaches.add('stops', `${unit.vin} takes ${took} ms, ${isOffline ? 'without' : 'with'} a connection`);
    };
  }

  replaced(unit: Unit): void {
    const { published } = this.#of(unit);
    // Messages of an earlier life that a broker loses cannot be recovered.
    if (!this.#parts.keepsAll) for (const one of published.values()) one.acknowledged = false;
    const fresh = new Watched(published);
    fresh.isReplaced = true;
    this.#watched.set(unit.vin, fresh);
    this.#signals.replaced(unit);
    unit.user.forget();
    unit.exitReceiver.forget();
    this.#parts.tell(unit.vin, 'gets a new folder of records');
  }

  restarts(unit: Unit): void {
    this.#parts.restarts(unit);
  }

  reconfigured(unit: Unit): void {
    this.#parts.reconfigured(unit);
  }

  exitBroken(unit: Unit, invariant: Invariant, what: string): void {
    this.#parts.breaches.add(invariant, `${unit.vin} ${what}`);
  }

  /** A file of the journal was damaged after a power cut: the states and records in it are lost. */
  damaged(unit: Unit, path: string): void {
    this.#parts.tell(unit.vin, `finds a damaged disk: ${path}`);
    this.#of(unit).isDamaged = true;
  }

  sentAgain(unit: Unit, what: string): void {
    this.#parts.breaches.add('deliveredOnce', `${unit.vin} ${what}`);
  }

  numbered(unit: Unit, message: Message): void {
    const { kind, seq } = message;
    this.#parts.note(unit.vin, `numbers ${kind} ${seq}`);
    if (kind === 'catalog') this.#signals.numbered(unit, message.body, `${classOf(kind)}/${seq}`);
    if (kind !== 'remote') return;
    this.#reported(unit, message.body);
    const { remoteActionId: id, status } = message.body;
    const { order } = unit.run?.configurations ?? {};
    if (order !== undefined && message.body.type === 'Configuration' && status === 'Success') this.#took(unit);
    if (final(status)) this.#of(unit).endNumbers.set(id, `${classOf(kind)}/${seq}`);
  }

  published(unit: Unit, { payload }: OutgoingMessage): void {
    const { breaches, note } = this.#parts;
    const message = decodeMessage(payload);
    const { kind, seq, boot } = message;
    const number = `${classOf(kind)}/${seq}`;
    note(unit.vin, `publishes ${number}`, payload);
    const watched = this.#of(unit);
    const known = watched.published.get(`${number}/${boot}`);
    if (known !== undefined) {
      if (this.#parts.keepsAll && watched.acknowledged.has(`${number}/${boot}`)) {
        breaches.add('sentOnce', `${unit.vin} ${kind} ${number}, start ${boot}`);
      }
      if (Buffer.compare(known.value, payload) !== 0)
        breaches.add('oneContent', `${unit.vin} ${kind} ${number}, start ${boot}`);
      return;
    }
    this.counts.published++;
    const first = watched.contents.get(number);
    // Numbers of a start without records are separate, and only in memory.
    const isOwn = boot >= UNRECORDED_BOOT;
    // After a failed write, numbers are not kept apart by the disk, but by the start number.
    if (first !== undefined && !first.unwritten && !isOwn) {
      breaches.add('oneContent', `${unit.vin} ${kind} ${number} was published with other contents`);
    }
    const unwritten = unit.diskRefused || isOwn;
    if (!isOwn) watched.contents.set(number, { value: payload, unwritten });
    watched.published.set(`${number}/${boot}`, { value: payload, unwritten, acknowledged: false });
    const body = decode(payload);
    const mark = findMark(body);
    if (mark !== undefined) breaches.add('private', `${unit.vin} publishes ${mark} in ${kind} ${number}`);
    if (kind === 'remote') this.#told(unit, message.body);
    if (kind === 'gap') this.#lost(unit, message.body);
    // After a failed write, an event may be published without its notification being stored.
    if (kind === 'event' && !unit.diskRefused) watched.deliveries.published(message.body);
  }

  acknowledged(unit: Unit, { payload }: OutgoingMessage): void {
    const { kind, seq, boot } = decodeMessage(payload);
    const { published, acknowledged } = this.#of(unit);
    const key = `${classOf(kind)}/${seq}/${boot}`;
    const known = published.get(key);
    if (known !== undefined) known.acknowledged = true;
    acknowledged.acknowledged(key, this.#parts.time.now);
  }

  received(unit: Unit, payload: Uint8Array): void {
    const opened = attempt(() => openCommand(payload));
    if (opened instanceof VigieError) return;
    const sent = this.#parts.commands.get(opened.command.id);
    const { revoked, unknown, programs, answers, doubtful } = this.#of(unit);
    const key = hex(opened.keyId);
    if (opened.command.id.startsWith(FORGED)) answers.forged();
    if (sent === undefined || revoked.has(key) || unknown.has(key)) return;
    sent.cameTrusted = true;
    if (!sent.genuine) return;
    programs.came(sent);
    this.#signals.received(unit, sent);
    if (sent.revokes !== undefined) {
      doubtful.add(sent.revokes);
      answers.revoked(sent.revokes);
    }
    if (!doubtful.has(key)) {
      answers.came(sent, this.#parts.time.now, (unit.run?.clock.now() ?? 0) > sent.expires);
    }
    if (sent.adds !== undefined) unknown.delete(sent.adds);
  }

  acts(unit: Unit, action: string): void {
    const { breaches, commands, tell } = this.#parts;
    const watched = this.#of(unit);
    this.counts.acts++;
    tell(unit.vin, `sends the frame of ${action}`);
    if (unit.isStopping) breaches.add('stops', `${unit.vin} ${action} after the stop began`);
    const id = watched.underWay.get(kindOf(action));
    const said = `${unit.vin} ${action} of ${id ?? 'no command'}`;
    if (id === undefined) {
      breaches.add('actsKnown', said);
      return;
    }
    const acts = (watched.acts.get(`${id} ${action}`) ?? 0) + 1;
    watched.acts.set(`${id} ${action}`, acts);
    if (acts > 1) breaches.add('actsOnce', said);
    const now = unit.run?.clock.now() ?? 0;
    const sent = commands.get(id);
    const occurrence = occurrenceOf(id);
    if (occurrence !== undefined) {
      // A command that began when it was due goes on if the clock then steps back.
      const latest = unit.board.latest(UNDER_WAY);
      const fault = programFault(occurrence, { vin: unit.vin, action, now, latest }, commands.values());
      if (fault !== undefined) breaches.add('programs', `${said}: ${fault}`);
    } else if (sent === undefined || !sent.genuine || sent.action !== action) {
      breaches.add('actsSigned', said);
      return;
    } else if (!sent.cameTrusted) breaches.add('actsTrusted', said);
    if (sent !== undefined && now > sent.expires) breaches.add('actsInTime', `${said}, ${now - sent.expires} ms late`);
    const why = interlock(action, this.#parts.cars.get(unit.vin)?.shown, this.#parts.time.now);
    if (why !== undefined) breaches.add('actsSafely', `${said}: ${why}`);
  }

  logged(unit: Unit, level: keyof Log, event: string, fields: unknown): void {
    const { breaches, note, tell } = this.#parts;
    const text = `${event} ${JSON.stringify(fields) ?? ''}`;
    if (level === 'info') note(unit.vin, text);
    else tell(unit.vin, `logs ${level}: ${text.slice(0, 200)}`);
    this.#of(unit).deliveries.logged(event);
    this.#of(unit).losses.logged(event, fields);
    if (event === 'command.failed') this.#refused(unit, fields as RefusedCommand);
    this.#signals.logged(unit, event, fields);
    const mark = findMark(fields);
    if (mark !== undefined) breaches.add('private', `${unit.vin} logs ${mark}: ${event}`);
    // After a failed write, work may fail without a defect.
    if (event === 'agent.defect' || (event === 'agent.workFailed' && !unit.diskRefused))
      breaches.add('sound', `${unit.vin} ${text}`);
  }

  /** Called every few seconds. */
  look(unit: Unit, outboxLimit: number): void {
    const { run } = unit;
    if (run === undefined) return;
    this.#signals.look(unit);
    const { breaches } = this.#parts;
    const { waiting, faults } = run.agent;
    const { bytes } = run.store.outbox;
    if (faults > 0) breaches.add('sound', `${unit.vin} has ${faults} faults`);
    if (waiting > WAITING || bytes > outboxLimit + BEYOND) {
      breaches.add('bounded', `${unit.vin} keeps ${waiting} messages of ${bytes} bytes`);
    }
  }

  /** Returns true if the hub may count this start to an earlier life, and then ignore its Status (docs/wire-format.md). */
  #isOfUnknownLife(unit: Unit): boolean {
    return this.#of(unit).isReplaced && (unit.run?.boot ?? 0) >= UNCOUNTED_BOOT;
  }

  /** Final check, when everything is quiet. */
  async settle(units: readonly Unit[], hub: WorldHub): Promise<void> {
    await this.#compareConfigurations(units, hub);
    for (const what of hub.callbacks?.missing() ?? []) this.#parts.breaches.add('hubDelivered', what);
    for (const unit of units) {
      const given = this.#compareMessages(unit, hub);
      if (!this.#of(unit).isDamaged) this.compareEnds(unit, given);
      const records = unit.run?.forwarder && unit.run.store.numbered;
      for (const number of (records && unit.exitReceiver.missing(records)) ?? [])
        this.#parts.breaches.add('exits', `${unit.vin} record ${number}`);
      await this.#compareStatus(unit, hub);
      this.closed(unit, false);
      // A car with damaged records cannot know which commands it has executed.
      const unanswered = this.#of(unit).isDamaged ? [] : this.#of(unit).answers.missing;
      for (const id of unanswered) this.#parts.breaches.add('answered', `${unit.vin} ${id}`);
      this.#compareMonitors(unit, hub);
      this.#signals.settle(unit, hub, given);
      this.#searchRecords(unit);
    }
  }

  /** Numbers in gap messages that arrived, by class and number. */
  #compareMessages(unit: Unit, hub: WorldHub): ReadonlySet<string> {
    const { breaches } = this.#parts;
    const watched = this.#of(unit);
    const rows = hub.database.all(
      'SELECT class, seq, payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ? ORDER BY messages.id',
      unit.vin,
    ) as unknown as readonly { class: number; seq: number; payload: Uint8Array }[];
    const arrived = new Set<string>();
    const told = new Set<string>();
    const keys = new Set<string>();
    for (const { class: priority, seq, payload } of rows) {
      const message = decodeMessage(payload);
      const key = `${priority}/${seq}/${message.boot}`;
      if (watched.boots.has(message.boot)) arrived.add(`${priority}/${seq}`);
      const sent = watched.published.get(key);
      if (keys.has(key) || sent === undefined || Buffer.compare(sent.value, payload) !== 0)
        breaches.add('once', `${unit.vin} ${key}`);
      keys.add(key);
      if (message.kind !== 'gap' || !watched.boots.has(message.boot)) continue;
      for (const [first, last] of message.body.numbers ?? []) {
        for (let number = first; number <= last; number++) told.add(`${message.body.class}/${number}`);
      }
    }
    const store = unit.run?.store.outbox;
    for (const [key, { value, unwritten, acknowledged }] of watched.published) {
      const [priority = 0, seq = 0] = key.split('/').map(Number);
      const number = `${priority}/${seq}`;
      // Messages that were only in memory are lost with the run: their numbers are free again, or reused.
      const isLast = watched.contents.get(number)?.value === value;
      if (unwritten && !(isLast && seq < (store?.nextSeq(priority) ?? 0))) continue;
      // A broker may lose a message that it has acknowledged. The car then sends it again, or reports a gap.
      if (acknowledged && !keys.has(key) && !told.has(number)) breaches.add('kept', `${unit.vin} ${key}`);
    }
    for (let priority = 0; store !== undefined && priority < classes.length; priority++) {
      for (let seq = 0; seq < store.nextSeq(priority); seq++) {
        const number = `${priority}/${seq}`;
        if (!arrived.has(number) && !told.has(number)) breaches.add('numbered', `${unit.vin} ${number}`);
      }
    }
    return told;
  }

  /**
   * Final check that accepted commands have ended. A full outbox may have dropped the report, which a gap message then
   * states.
   */
  compareEnds(unit: Unit, given: ReadonlySet<string>): void {
    const { accepted, ends, endNumbers, programs } = this.#of(unit);
    const lacks = (id: string): boolean => !ends.has(id) && !given.has(endNumbers.get(id) ?? '');
    for (const id of accepted) if (lacks(id)) this.#parts.breaches.add('ends', `${unit.vin} ${id}`);
    const now = unit.run?.clock.now() ?? 0;
    for (const id of programs.due(now)) if (lacks(id)) this.#parts.breaches.add('planned', `${unit.vin} ${id}`);
  }

  async #compareConfigurations(units: readonly Unit[], hub: WorldHub): Promise<void> {
    const { breaches } = this.#parts;
    const known = units.filter((unit) => !this.#of(unit).isReplaced);
    for (const unit of units) {
      const { configurations } = unit.run ?? {};
      if (configurations === undefined) continue;
      const { text, hello, isBlind } = configurations;
      if (!/^(own|good .*)$/.test(text) && !isBlind) breaches.add('configuration', `${unit.vin} keeps ${text}`);
      const { taken, trialStarts } = this.#of(unit);
      const isKept = taken === undefined || text === taken;
      // A configuration with which three starts did not reach the broker is given up.
      if (taken?.startsWith('good') === true && !isKept && trialStarts < 3)
        breaches.add('configuration', `${unit.vin} keeps ${text} (${JSON.stringify(hello)}), not ${taken}`);
    }
    const digests = new Map(known.map(({ vin, run }) => [vin, run?.configurations?.digest] as const));
    for (const what of (await hub.rollouts?.broken(digests)) ?? []) breaches.add('rollout', what);
  }

  #compareMonitors(unit: Unit, hub: WorldHub): void {
    const { breaches } = this.#parts;
    const { deliveries, isDamaged } = this.#of(unit);
    this.counts.events += deliveries.count;
    const missing = isDamaged ? [] : deliveries.missing(unit.receivers);
    for (const what of missing) breaches.add('delivered', `${unit.vin} ${what}`);
    const agent = unit.run?.agent;
    if (agent === undefined) return;
    for (const what of hub.fleet?.broken(unit.vin, agent) ?? []) breaches.add('fleet', `${unit.vin} ${what}`);
    if (!isDamaged) for (const what of unit.user.broken(agent)) breaches.add('monitors', `${unit.vin} ${what}`);
    const own = listOf(agent.monitors.all);
    const theirs = hub.monitorList(unit.vin);
    if (theirs !== undefined && listOf(theirs) !== own && !this.#isOfUnknownLife(unit)) {
      breaches.add('monitorList', `${unit.vin} has ${own}, the hub has ${listOf(theirs)}`);
    }
  }

  async #compareStatus(unit: Unit, hub: WorldHub): Promise<void> {
    const status = unit.run?.agent.status;
    // The hub keeps the last values of a car that reads nothing any more.
    if (status === undefined || unit.run?.configurations?.isBlind === true || this.#isOfUnknownLife(unit)) return;
    const stale = status.stale.map(({ id }) => id);
    const own = [status.contents(), stale];
    const there = await hub.reader.status(unit.vin);
    const theirs = [there?.contents(), there?.stale ?? []];
    if (!isDeepStrictEqual(own, theirs))
      this.#parts.breaches.add(
        'status',
        `${unit.vin} has ${JSON.stringify(own)}, the hub has ${JSON.stringify(theirs)}`,
      );
  }

  #searchRecords(unit: Unit): void {
    const { run } = unit;
    for (const collection of ['trip', 'telemetry', 'waypoint', 'alert', 'event', 'stolen', 'maintenance']) {
      for (const { id, record } of run?.store.records.list(collection) ?? []) {
        const mark = findMark(record);
        if (mark !== undefined) this.#parts.breaches.add('private', `${unit.vin} keeps ${mark} in ${collection} ${id}`);
      }
    }
  }

  /** A command state has its number. It may not be on disk yet. */
  #reported(unit: Unit, { remoteActionId: id, type, status }: RemoteReport): void {
    const { commands, breaches, cars, time } = this.#parts;
    const watched = this.#of(unit);
    const sent = commands.get(id);
    watched.answers.reported(id);
    if (final(status)) this.#answered(unit, id);
    const shown = cars.get(unit.vin)?.shown;
    const why = sent === undefined ? undefined : objection(sent, status, shown, time.now);
    if (why !== undefined) breaches.add('accepts', `${unit.vin} ${id} is ${status}: ${why}`);
    this.#followed(unit, { id, type, status });
    if (status === 'SentToVehicle') watched.underWay.set(type, id);
    else if (status !== 'Accepted' && watched.underWay.get(type) === id) watched.underWay.delete(type);
    if (status === 'Success' && sent?.revokes !== undefined) watched.revoked.add(sent.revokes);
    const effect = EFFECTS[sent?.action ?? programAction(id)];
    if ((status !== 'Success' && status !== 'AlreadyDone') || effect === undefined) return;
    // A repeated command gets the same answer, whatever the car shows by then.
    if (watched.succeeded.has(id)) return;
    watched.succeeded.add(id);
    const action = sent?.action ?? programAction(id);
    const hasActed = watched.acts.has(`${id} ${action}`);
    // After a restart, the car may show the result of an action that the agent did not carry out.
    if (status === 'Success' ? !watched.interrupted.has(id) && !hasActed : hasActed)
      breaches.add('alreadyDone', `${unit.vin} ${id} (${action}) ends with ${status}`);
    if (!isShown(effect, shown, time.now))
      breaches.add('success', `${unit.vin} ${id} (${sent?.action}) ends with ${status}`);
  }

  /** Follows a command for its limits. A command without a sender is of a program of the car. */
  #followed(unit: Unit, { id, type, status }: { readonly id: string; readonly type: string; readonly status: string }) {
    const { history } = this.#of(unit);
    const now = unit.run?.clock.now() ?? 0;
    const sent = this.#parts.commands.get(id);
    // A command for the agent itself has no limits.
    const isLimited = sent === undefined || sent.program !== undefined || EFFECTS[sent.action] !== undefined;
    const isAccepted = status === 'Accepted' && isLimited;
    const why = isAccepted ? history.accept(id, type, now, sent === undefined) : undefined;
    if (why !== undefined) this.#parts.breaches.add('accepts', `${unit.vin} ${id}: ${why}`);
    if (status === 'WakingUpVehicle') history.wakeUps++;
    if (final(status as RemoteReport['status'])) history.ended(id, this.#parts.time.now);
  }

  /** The car refuses a command. */
  #refused(unit: Unit, { id, code, detail }: RefusedCommand): void {
    const { commands, cars, time, breaches } = this.#parts;
    const { run, board, isStopping } = unit;
    const sent = commands.get(id);
    const shown = cars.get(unit.vin)?.shown;
    if (sent === undefined || run === undefined || shown === undefined) return;
    const { history, doubtful, revoked, acts, interrupted } = this.#of(unit);
    // The disk has refused a state, after which the next start may not know this end.
    if (code === 'store.failed') interrupted.add(id);
    const why = unfounded({
      code: code.slice('command.'.length),
      detail,
      sent,
      now: run.clock.now(),
      quality: run.clock.quality(),
      time: time.now,
      stepped: board.jumped,
      shown,
      isStopping,
      isTrusted: !doubtful.has(sent.keyId) && !revoked.has(sent.keyId),
      hasActed: acts.has(`${id} ${sent.action}`),
      history,
    });
    if (why !== undefined) breaches.add('refused', `${unit.vin} ${id} (${sent.action}) for ${code}: ${why}`);
  }

  /** A gap message is being sent. After a failed write or damage, a loss may be logged by nothing but its cause. */
  #lost(unit: Unit, gap: Gap): void {
    const { losses, contents, wasRefused } = this.#of(unit);
    const why = losses.reported(gap, (number) => contents.has(`${gap.class}/${number}`));
    if (why !== undefined && !wasRefused && !unit.diskRefused)
      this.#parts.breaches.add('lossLogged', `${unit.vin} ${why}`);
  }

  /** The end of a command is reported: the first time, at once after a repetition, and then at most once a minute. */
  #answered({ vin }: Unit, id: string): void {
    const { answered } = this.#of({ vin });
    const { now } = this.#parts.time;
    const { count, at } = answered.get(id) ?? { count: 0, at: 0 };
    answered.set(id, { count: count + 1, at: now });
    if (count < 2 || now - at >= REPEATED) return;
    this.#parts.breaches.add('repeats', `${vin} ${id} is answered again after ${now - at} ms`);
  }

  /** The unit has accepted a configuration, which its next start tries. */
  #took(unit: Unit): void {
    const watched = this.#of(unit);
    const next = unit.run?.configurations?.next;
    if (next === undefined || next === watched.taken) return;
    watched.taken = next;
    watched.trialStarts = 0;
  }

  /** A command state is being sent. */
  #told(unit: Unit, report: RemoteReport): void {
    const { remoteActionId: id, type, status, failureCause } = report;
    const { breaches, commands, tell } = this.#parts;
    const watched = this.#of(unit);
    this.#signals.told(unit, report);
    tell(unit.vin, `reports ${id} (${type}): ${status}${failureCause === undefined ? '' : ` ${failureCause}`}`);
    if (status === 'Accepted') {
      watched.accepted.add(id);
      const sent = commands.get(id);
      if (sent !== undefined && !sent.cameTrusted) breaches.add('actsTrusted', `${unit.vin} accepts ${id}`);
    }
    if (!final(status)) return;
    if (!unit.diskRefused) watched.history.published(id);
    this.counts.ended++;
    const before = watched.ends.get(id);
    if (
      before !== undefined &&
      before.value !== status &&
      !before.unwritten &&
      !unit.diskRefused &&
      !watched.isDamaged
    ) {
      breaches.add('oneEnd', `${unit.vin} ${id}: ${before.value}, then ${status}`);
    }
    watched.ends.set(id, { value: status, unwritten: unit.diskRefused });
    const ended = commands.get(id);
    if (status !== 'Success' || ended === undefined) return;
    // A repeated answer, possibly after a clock step, does not show when the program was planned.
    if (!unit.diskRefused && before === undefined) watched.programs.taken(ended, unit.run?.clock.now() ?? 0);
    if (ended.revokes !== undefined) this.#parts.revoked(unit.vin, ended.revokes);
  }

  #of({ vin }: Pick<Unit, 'vin'>): Watched {
    const known = this.#watched.get(vin);
    if (known !== undefined) return known;
    const made = new Watched();
    this.#watched.set(vin, made);
    return made;
  }
}

function listOf(monitors: readonly { readonly monitorId: string; readonly status: string }[]): string {
  return JSON.stringify(monitors.map(({ monitorId, status }) => [monitorId, status]).sort());
}
