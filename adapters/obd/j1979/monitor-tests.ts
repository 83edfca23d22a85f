import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { hexOf } from '../hex.ts';
import { type Scaling, scalingOf } from './scaling.ts';

/** A result of a monitor that the control unit runs automatically. */
interface MonitorTest {
  /** OBD monitor identifier (OBDMID), 1..255. */
  readonly monitor: number;
  /** Monitored system. */
  readonly name: string;
  /** Test identifier; 80 and above are defined by the manufacturer. */
  readonly test: number;
  /** Unit and scaling identifier. */
  readonly unitId: number;
  /** Empty if the value has no unit or the identifier is unknown. */
  readonly unit: string;
  readonly value: number;
  readonly minimum: number;
  readonly maximum: number;
  /** True if the value is within its limits. */
  readonly passed: boolean;
}

/** Bytes of a result: monitor, test, unit and scaling, value, lower and upper limit. */
const RECORD = 9;

/**
 * Parses the results of an answer to service 06 on CAN; `data` begins with 46 (SAE J1979 §6.6.4). If the unit and
 * scaling identifier is unknown, numbers are raw.
 * @throws VigieError `input.malformed` for another answer or an incomplete result
 */
export function readMonitorTests(data: Uint8Array): MonitorTest[] {
  if (data[0] !== 0x46) {
    throw new VigieError(
      'input.malformed',
      `${hexOf(data.subarray(0, 3)) || 'nothing'} is not an answer to service 06`,
    );
  }
  if ((data.length - 1) % RECORD !== 0 || data.length === 1) {
    throw new VigieError(
      'input.malformed',
      `the answer to service 06 holds ${data.length - 1} bytes, results have ${RECORD} each`,
    );
  }
  const results: MonitorTest[] = [];
  for (let at = 1; at < data.length; at += RECORD) results.push(resultOf(data.subarray(at, at + RECORD)));
  return results;
}

function resultOf(record: Uint8Array): MonitorTest {
  const [monitor = 0, test = 0, unitId = 0] = record;
  const scaling = scalingOf(unitId) ?? { scale: 1, offset: 0, signed: unitId >= 0x80, unit: '' };
  const value = scaled(record, 3, scaling);
  const minimum = scaled(record, 5, scaling);
  const maximum = scaled(record, 7, scaling);
  const passed = value >= minimum && value <= maximum;
  return { monitor, name: monitorName(monitor), test, unitId, unit: scaling.unit, value, minimum, maximum, passed };
}

function scaled(record: Uint8Array, at: number, { scale, offset, signed }: Scaling): number {
  const raw = ((record[at] as number) << 8) | (record[at + 1] as number);
  return (signed ? (raw << 16) >> 16 : raw) * scale + offset;
}

/** Groups of monitors: identifiers count banks or similar from the first of their group (SAE J1979-DA, Table D). */
const GROUPS: readonly (readonly [first: number, last: number, name: (index: number) => string])[] = [
  [0x01, 0x10, (i) => `oxygen sensor ${(i & 3) + 1} of bank ${(i >> 2) + 1}`],
  [0x21, 0x24, (i) => `catalyst, bank ${i + 1}`],
  [0x31, 0x34, (i) => `exhaust gas recirculation, bank ${i + 1}`],
  [0x35, 0x38, (i) => `variable valve timing, bank ${i + 1}`],
  [0x39, 0x39, () => 'evaporative system, cap off or 4 mm leak'],
  [0x3a, 0x3a, () => 'evaporative system, 2.3 mm leak'],
  [0x3b, 0x3b, () => 'evaporative system, 1 mm leak'],
  [0x3c, 0x3c, () => 'evaporative system, 0.5 mm leak'],
  [0x3d, 0x3d, () => 'evaporative system, purge flow'],
  [0x41, 0x50, (i) => `heater of oxygen sensor ${(i & 3) + 1} of bank ${(i >> 2) + 1}`],
  [0x61, 0x64, (i) => `heated catalyst, bank ${i + 1}`],
  [0x71, 0x74, (i) => `secondary air, system ${i + 1}`],
  [0x81, 0x84, (i) => `fuel system, bank ${i + 1}`],
  [0x85, 0x86, (i) => `boost pressure, bank ${i + 1}`],
  [0x90, 0x91, (i) => `NOx adsorber, bank ${i + 1}`],
  [0x98, 0x99, (i) => `NOx catalyst, bank ${i + 1}`],
  [0xa1, 0xa1, () => 'misfire, all cylinders'],
  [0xa2, 0xad, (i) => `misfire, cylinder ${i + 1}`],
  [0xb0, 0xb1, (i) => `particulate filter, bank ${i + 1}`],
  [0xb2, 0xb3, (i) => `particulate sensor, bank ${i + 1}`],
];

/** Returns the monitored system. Reserved and manufacturer identifiers are named by their number. */
function monitorName(monitor: number): string {
  const group = GROUPS.find(([first, last]) => monitor >= first && monitor <= last);
  return group === undefined ? `monitor ${hexByte(monitor)}` : group[2](monitor - group[0]);
}
