import type { AlarmRecord } from '../../protocol/schema/alarm.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { StatusWriter } from '../model/mapping.ts';
import { presentPosition } from '../model/position.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import type { Recorder } from './recorder.ts';

const activation = slotAt('alarm.status.activation');
const type = slotAt('alarm.trigger.type');
const startAt = slotAt('alarm.trigger.startAt');
const place = slotAt('alarm.trigger.position');

type Activation = NonNullable<AlarmRecord['status']>['activation'];
type Trigger = NonNullable<AlarmRecord['trigger']>;

/**
 * Records that the burglar alarm was armed, disarmed or triggered. Its end (`NoBreakIn`) is in Status and causes no
 * record. The first reading of the alarm is not a change, so it causes no record either.
 */
export class AlarmRecorder implements Recorder {
  readonly name = 'alarm';
  readonly watches = [activation, type];
  readonly #status: StatusReader;
  readonly #writer: StatusWriter;
  readonly #records: Records;

  constructor(status: StatusReader, writer: StatusWriter, records: Records) {
    this.#status = status;
    this.#writer = writer;
    this.#records = records;
  }

  changed(changed: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void {
    if (changed === activation && previous !== undefined) {
      this.#put({ status: { createdAt: Math.round(at), activation: value as Activation } }, at);
    } else if (changed === type) this.#trigger(value as Trigger['type'], previous, at);
  }

  tick(): void {}
  flush(): void {}

  #trigger(value: Trigger['type'], previous: SlotValue | undefined, at: number): void {
    const position = presentPosition(this.#status);
    // In the interface a trigger needs a time; the frame of the alarm contains only the kind of trigger.
    this.#writer.set(startAt, Math.round(at), at);
    if (position === undefined) this.#writer.remove(place, at);
    else this.#writer.set(place, position, at);
    if (value === 'NoBreakIn' || previous === undefined) return;
    const trigger: Trigger = { createdAt: Math.round(at), type: value, startAt: Math.round(at) };
    this.#put({ trigger: position === undefined ? trigger : { ...trigger, position } }, at);
  }

  #put(what: Pick<AlarmRecord, 'status' | 'trigger'>, at: number): void {
    const createdAt = Math.round(at);
    this.#records.put('alarm', { createdAt, id: this.#records.newId(createdAt), ...what });
  }
}
