/** Fault codes that control units report. */
import { enumeration, flag, instant, list, optional, quantity, record, required, type Static, text } from './fields.ts';
import { identity } from './identity.ts';

/** System that the first letter of a code names: P, C, B, U (ISO 15031-6 §5). */
export const faultGroups = ['Powertrain', 'Chassis', 'Body', 'Network'] as const;
export type FaultGroup = (typeof faultGroups)[number];

/**
 * Lists of a control unit that contain the code: services 03, 07 and 0A (SAE J1979 §6.3, §6.7, §6.10). For UDS,
 * `Stored` is confirmedDTC, `Pending` is pendingDTC; the rest are other statusOfDTC bits (ISO 14229-1:2020 Annex D.2).
 */
export const faultStatuses = [
  'Stored',
  'Pending',
  'Permanent',
  'TestFailed',
  'TestFailedThisCycle',
  'TestNotCompletedSinceClear',
  'TestFailedSinceClear',
  'TestNotCompletedThisCycle',
  'WarningIndicator',
] as const;
export type FaultStatus = (typeof faultStatuses)[number];

/** Maximum number of freeze frame values in a record. */
export const MOST_FREEZE_VALUES = 64;

/** Maximum size in bytes of a snapshot, and of extended data, in a record. */
export const MOST_FAULT_BYTES = 512;

const freezeValueSchema = record('FreezeFrameValue', 'What the control unit measured when it stored the code.', {
  name: required(1, text('Name of the signal in the signal set of the profile.')),
  value: required(2, quantity('1', 0.000001, [], 'Its value, in `unit`.')),
  unit: optional(3, text('Unit as the signal set names it; absent: it has none.')),
});
export type FreezeFrameValue = Static<typeof freezeValueSchema>;

/** One code of one control unit, from its first to its last report. Body of a `fault` message. */
export const faultSchema = record('Fault', 'A fault code that a control unit reports. An addition to the interface.', {
  ...identity,
  active: required(3, flag('The control unit still reports the code.')),
  code: required(
    4,
    text('The code of five characters, such as P0143 (ISO 15031-6 §5); read by UDS, with its failure type: P0143-1C.', {
      maxLength: 8,
      pattern: '^[PCBU][0-3][0-9A-F]{3}(-[0-9A-F]{2})?$',
    }),
  ),
  unit: required(
    5,
    text('Identifier of the answers of the control unit, such as 7E8; with extended addressing 7E8-2A.', {
      maxLength: 11,
      pattern: '^[0-9A-F]{3,8}(-[0-9A-F]{2})?$',
    }),
  ),
  group: required(6, enumeration('System, by the first letter of the code.', faultGroups)),
  status: required(
    7,
    list(
      'Lists that have the code; of a code that is no longer active, those that had it last.',
      enumeration('A list of the control unit.', faultStatuses),
      { minItems: 1, maxItems: faultStatuses.length },
    ),
  ),
  firstSeenAt: required(8, instant('When the control unit was first found to report it.')),
  lastSeenAt: required(9, instant('When the control unit was last found to report it.')),
  odometer: optional(10, quantity('km', 0.1, [0, 10_000_000], 'Odometer of the car when the code was first seen.')),
  text: optional(11, text('What the profile says that the code means.')),
  freezeFrame: optional(
    12,
    list(
      'Freeze frame 0, where the control unit says that this code caused it (SAE J1979 §6.2), or values of the snapshot.',
      freezeValueSchema,
      { maxItems: MOST_FREEZE_VALUES },
    ),
  ),
  unitName: optional(13, text('Name of the control unit in the profile.')),
  snapshot: optional(
    14,
    text(
      'Snapshot records, hexadecimal: number, count of identifiers, each identifier with its data (ISO 14229-1, 19 04).',
      { maxLength: 2 * MOST_FAULT_BYTES, pattern: '^([0-9A-F]{2})+$' },
    ),
  ),
  extendedData: optional(
    15,
    text('Extended data records, hexadecimal: each its number and data (ISO 14229-1, 19 06).', {
      maxLength: 2 * MOST_FAULT_BYTES,
      pattern: '^([0-9A-F]{2})+$',
    }),
  ),
});
export type FaultRecord = Static<typeof faultSchema>;

/** Returns the system of a code, by its first letter. */
export function faultGroupOf(code: string): FaultGroup {
  return faultGroups['PCBU'.indexOf(code.charAt(0))] ?? 'Powertrain';
}
