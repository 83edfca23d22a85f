import { type Channel, channels } from '../../protocol/channels.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { type AlertRule, recordingDefaults } from '../../protocol/recording.ts';
import { type Alert, alertSchema } from '../../protocol/schema/alert.ts';
import type { AlertType } from '../../protocol/schema/alert-types.ts';
import { positionSchema } from '../../protocol/schema/status/position.ts';
import { type SlotValue, slotAt } from '../../protocol/slots.ts';
import { type Position, presentPosition } from '../model/position.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import type { Recorder, TripReader } from './recorder.ts';

const SECTION = 'alerts.';
const privacy = slotAt('privacy.state');

/**
 * One type of alert. A lit lamp starts an alert after the rule's `onAfter`, a dark lamp ends it after `offAfter`. Start
 * and end have the time of the lamp's change:
 *
 *     idle → rising → active → falling → idle       rising → idle, falling → active when the lamp changes back
 */
interface Track {
  readonly type: AlertType;
  readonly rule: AlertRule;
  phase: 'idle' | 'rising' | 'active' | 'falling';
  /** Time and position of the lamp's change, in the phases rising and falling. */
  since: number;
  place: Position | undefined;
  record: Alert | undefined;
}

interface AlertParts {
  readonly status: StatusReader;
  readonly records: Records;
  readonly trips: TripReader;
  /** Rules by type; `default` for all others. */
  readonly rules: Readonly<Record<string, AlertRule>> | undefined;
}

/** Records an alert, from its start to its end, for each lamp that is lit for long enough. */
export class AlertRecorder implements Recorder {
  readonly name = 'alert';
  readonly #parts: AlertParts;
  readonly #tracks = new Map<Channel, Track>();

  constructor(parts: AlertParts) {
    this.#parts = parts;
  }

  channel(channel: Channel, value: SlotValue, at: number): void {
    if (!channel.path.startsWith(SECTION)) return;
    const track = this.#track(channel);
    // The lamp may have been unchanged for long enough before this change, without a tick in between.
    this.#advance(track, at);
    if (value === true) {
      if (track.phase === 'idle') this.#enter(track, 'rising', at);
      else if (track.phase === 'falling') track.phase = 'active';
    } else if (track.phase === 'rising') track.phase = 'idle';
    else if (track.phase === 'active') this.#enter(track, 'falling', at);
    this.#advance(track, at);
  }

  tick(now: number): void {
    // Full privacy stops recording; when it ends, the current lamps are recorded.
    if (this.#parts.status.value(privacy) === 'Full') return;
    for (const track of this.#tracks.values()) this.#advance(track, now);
  }

  flush(): void {}

  state(): unknown {
    const open = [...this.#tracks].filter(([, { phase }]) => phase !== 'idle');
    return open.map(([channel, { phase, since, place, record }]) => ({
      path: channel.path,
      phase,
      since,
      place,
      record,
    }));
  }

  restore(state: unknown): void {
    if (!Array.isArray(state)) throw new VigieError('input.malformed', 'the stored open alerts are not a list');
    for (const kept of state as readonly Partial<Track & { path: string }>[]) {
      const channel = channels.find(({ path }) => path === kept.path);
      if (channel === undefined || kept.phase === undefined || typeof kept.since !== 'number') continue;
      const track = this.#track(channel);
      track.phase = kept.phase;
      track.since = kept.since;
      track.place = kept.place;
      track.record = kept.record;
    }
  }

  correct(by: number, latest: number): void {
    for (const track of this.#tracks.values()) {
      track.since += by;
      track.place = shiftInstants(positionSchema, track.place, by, latest);
      if (track.record === undefined) continue;
      track.record = shiftInstants(alertSchema, track.record, by, latest);
    }
  }

  #track(channel: Channel): Track {
    const known = this.#tracks.get(channel);
    if (known !== undefined) return known;
    const type = channel.path.slice(SECTION.length) as AlertType;
    const rule = this.#parts.rules?.[type] ?? this.#parts.rules?.['default'] ?? recordingDefaults.alert;
    const track: Track = { type, rule, phase: 'idle', since: 0, place: undefined, record: undefined };
    this.#tracks.set(channel, track);
    return track;
  }

  #advance(track: Track, now: number): void {
    // If the clock stepped back, restart the wait: the time since the change of the lamp is unknown.
    if (now < track.since) track.since = now;
    const stood = now - track.since;
    if (track.phase === 'rising' && stood >= track.rule.onAfter) this.#begin(track);
    else if (track.phase === 'falling' && stood >= track.rule.offAfter) this.#end(track);
  }

  #enter(track: Track, phase: 'rising' | 'falling', at: number): void {
    track.phase = phase;
    track.since = at;
    track.place = presentPosition(this.#parts.status);
  }

  #begin(track: Track): void {
    const { records, trips } = this.#parts;
    const { type, rule, since, place: position } = track;
    const at = Math.round(since);
    const record: Alert = {
      createdAt: at,
      id: records.newId(at),
      active: true,
      type,
      ...defined({ severity: rule.severity }),
      startedAt: at,
      ...defined({ startPosition: position, tid: trips.current }),
    };
    track.phase = 'active';
    track.record = record;
    records.put('alert', record);
  }

  #end(track: Track): void {
    const { place: position } = track;
    track.phase = 'idle';
    if (track.record === undefined) return;
    const endAt = Math.max(Math.round(track.since), track.record.startedAt);
    this.#parts.records.put('alert', {
      ...track.record,
      active: false,
      updatedAt: endAt,
      endAt,
      ...defined({ endPosition: position }),
    });
    track.record = undefined;
  }
}
