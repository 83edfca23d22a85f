import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { defined } from '../../protocol/defined.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { type Maintenance, maintenanceSchema } from '../../protocol/schema/maintenance.ts';
import { type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import type { Recorder } from './recorder.ts';

const days = channelByPath.get('maintenance.days') as Channel;
const mileage = channelByPath.get('maintenance.mileage') as Channel;
const privacy = slotAt('privacy.state');

/** Change in km of the remaining distance after which it is recorded again: once in some days of driving. */
const STEP = 50;
/**
 * Increase of the remaining time or distance which means that the car was serviced: the next service is another record.
 */
const SERVICED = { days: 14, km: 500 };

interface State {
  readonly record: Maintenance | undefined;
}

/** Records when the next service is due: one record from one service to the next. */
export class MaintenanceRecorder implements Recorder {
  readonly name = 'maintenance';
  readonly #status: StatusReader;
  readonly #records: Records;
  #days: number | undefined;
  #mileage: number | undefined;
  #record: Maintenance | undefined;
  #changed = false;

  constructor(status: StatusReader, records: Records) {
    this.#status = status;
    this.#records = records;
  }

  channel(channel: Channel, value: SlotValue): void {
    if (typeof value !== 'number') return;
    if (channel === days) this.#days = value;
    else if (channel === mileage) this.#mileage = value;
    else return;
    this.#changed = true;
  }

  tick(now: number): void {
    if (!this.#changed || this.#status.value(privacy) === 'Full') return;
    this.#changed = false;
    if (!this.#worthTelling()) return;
    const at = Math.round(now);
    const before = this.#serviced() ? undefined : this.#record;
    const record: Maintenance = {
      createdAt: before?.createdAt ?? at,
      id: before?.id ?? this.#records.newId(at),
      ...(before === undefined ? {} : { updatedAt: Math.max(at, before.createdAt) }),
      ...defined({ daysBeforeMaintenance: this.#days, mileageBeforeMaintenance: this.#mileage }),
    };
    this.#record = record;
    this.#records.put('maintenance', record);
  }

  flush(): void {}

  state(): unknown {
    return { record: this.#record } satisfies State;
  }

  restore(state: unknown): void {
    this.#record = (state as Partial<State>).record;
    // Until the car reports both values again, the last known ones remain valid.
    this.#days = this.#record?.daysBeforeMaintenance;
    this.#mileage = this.#record?.mileageBeforeMaintenance;
  }

  correct(by: number, latest: number): void {
    if (this.#record !== undefined) this.#record = shiftInstants(maintenanceSchema, this.#record, by, latest);
  }

  #worthTelling(): boolean {
    const previous = this.#record;
    if (previous === undefined || previous.daysBeforeMaintenance !== this.#days) return true;
    const before = previous.mileageBeforeMaintenance;
    const now = this.#mileage;
    if (before === undefined || now === undefined) return before !== now;
    return Math.abs(now - before) >= STEP || now < 0 !== before < 0;
  }

  #serviced(): boolean {
    const more = (now: number | undefined, before: number | undefined): number => (now ?? 0) - (before ?? now ?? 0);
    return (
      more(this.#days, this.#record?.daysBeforeMaintenance) > SERVICED.days ||
      more(this.#mileage, this.#record?.mileageBeforeMaintenance) > SERVICED.km
    );
  }
}
