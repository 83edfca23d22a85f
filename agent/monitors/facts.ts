import { VigieError } from '../../protocol/errors.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import type { RecordKind } from '../../protocol/schema/kind.ts';
import type { Body } from '../../protocol/schema/message.ts';
import { slotAt } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';

export const privacyState = slotAt('privacy.state');

const levels: Readonly<Record<string, number>> = { None: 0, Geolocation: 1, Full: 2 };

type Newest = { [K in RecordKind]?: Body<K> };

/** Facts that are in records but not in Status: the newest record of each kind, and all active alerts. */
export class Facts {
  readonly #status: StatusReader;
  #newest: Newest = {};
  #alerts = new Map<string, Alert>();
  /** True if something changed since {@link state} was called. */
  changed = false;

  constructor(status: StatusReader) {
    this.#status = status;
  }

  newest<K extends RecordKind>(kind: K): Body<K> | undefined {
    return this.#newest[kind] as Body<K> | undefined;
  }

  /** Active alerts, in the order in which they were first recorded. */
  get alerts(): readonly Alert[] {
    return [...this.#alerts.values()];
  }

  /** Returns the record if it ends an active alert, or undefined. */
  ending(record: Alert): Alert | undefined {
    return !record.active && this.#alerts.get(record.type)?.id === record.id ? record : undefined;
  }

  /** Privacy level: 0 hides nothing, 1 positions, 2 all but safety. A car that was declared stolen hides nothing. */
  get hidden(): number {
    const { stolen } = this.#newest;
    if (stolen?.state === true && stolen.origin === 'Declared') return 0;
    return levels[String(this.#status.value(privacyState))] ?? 0;
  }

  /** Stores a record; `previous` is its previous version. */
  note<K extends RecordKind>(kind: K, record: Body<K>, previous: Body<K> | undefined): void {
    if (kind === 'alert') this.#noteAlert(record as Alert);
    const newest = this.newest(kind) as { id: string } | undefined;
    // A corrected record is the newest one only if its previous version was.
    const older = previous !== undefined && newest !== undefined && newest.id !== (record as { id: string }).id;
    if (!older)
      this.#newest = { ...this.#newest, [kind]: kind === 'collision' ? shorn(record as Body<'collision'>) : record };
    this.changed = true;
  }

  #noteAlert(record: Alert): void {
    if (record.active) this.#alerts.set(record.type, record);
    else if (this.ending(record) !== undefined) this.#alerts.delete(record.type);
  }

  state(): unknown {
    return { newest: this.#newest, alerts: this.alerts };
  }

  restore(state: unknown): void {
    const { newest, alerts } = state as { newest?: Newest; alerts?: readonly Alert[] };
    if (typeof newest !== 'object' || !Array.isArray(alerts)) {
      throw new VigieError('input.malformed', 'the records that monitors kept are none');
    }
    this.#newest = newest;
    this.#alerts = new Map(alerts.map((alert: Alert) => [alert.type, alert]));
  }
}

/** Returns the collision without its measurements, which may fill a whole message. */
function shorn({ pulse: _pulse, readings: _readings, ...rest }: Body<'collision'>): Body<'collision'> {
  return rest;
}
