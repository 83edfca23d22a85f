/**
 * Encodes readings as the AWS FleetWise edge agent does: a protobuf message `VehicleData` with a `CapturedSignal` for
 * each reading (aws-iot-fleetwise-edge, interfaces/protobuf/schemas/cloudBoundMessages/vehicle_data.proto). Without the
 * compression with snappy that follows there.
 */
import type { Reading } from '../../protocol/schema/telemetry.ts';

/** Wire types of protobuf. */
const VARINT = 0;
const DOUBLE = 1;
const LENGTH = 2;

/** Largest length in bytes of a `CapturedSignal`: three tags, two varints and a double. */
const LONGEST = 3 + 5 + 5 + 8;

/** @param start reference time of the relative times in UTC ms */
export function vehicleData(readings: readonly Reading[], start: number): Uint8Array {
  const bytes = new Uint8Array(40 + readings.length * (2 + LONGEST));
  const view = new DataView(bytes.buffer);
  let length = 0;
  const varint = (value: number): void => {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[length++] = (rest % 0x80) + 0x80;
    bytes[length++] = rest;
  };
  const tag = (field: number, type: number): void => varint(field * 8 + type);
  tag(3, VARINT); // collection_event_id
  varint(123_456_789);
  tag(4, VARINT); // collection_event_time_ms_epoch
  varint(start);
  for (const { slot, value, at } of readings) {
    tag(5, LENGTH); // captured_signals
    const place = length++;
    tag(1, VARINT); // signal_id
    varint(slot.index);
    tag(2, VARINT); // relative_time_ms, sint64
    varint(at >= start ? (at - start) * 2 : (start - at) * 2 - 1);
    tag(3, DOUBLE); // double_value
    view.setFloat64(length, Number(value), true);
    length += 8;
    bytes[place] = length - place - 1;
  }
  return bytes.subarray(0, length);
}
