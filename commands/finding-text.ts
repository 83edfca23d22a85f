/** Formats answers of control units as human-readable lines. */
import type { ObdDecoder, ObdValue } from '../adapters/obd/index.ts';
import type { Fault, Finding, StandardAnswers } from '../adapters/obd/j1979/index.ts';

/** Usual symbols for the units in signal sets. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['amps', 'A'],
  ['bar', 'bar'],
  ['celsius', '°C'],
  ['degrees', '°'],
  ['gramsPerSecond', 'g/s'],
  ['hours', 'h'],
  ['kilogramsPerHour', 'kg/h'],
  ['kilometers', 'km'],
  ['kilometersPerHour', 'km/h'],
  ['kilopascal', 'kPa'],
  ['litersPerHour', 'l/h'],
  ['milliamps', 'mA'],
  ['milligramsPerCubicMeter', 'mg/m³'],
  ['milligramsPerStroke', 'mg per stroke'],
  ['minutes', 'min'],
  ['newtonMeters', 'Nm'],
  ['partsPerMillion', 'ppm'],
  ['pascal', 'Pa'],
  ['percent', '%'],
  ['rpm', 'rpm'],
  ['seconds', 's'],
  ['volts', 'V'],
]);

/** Formats one finding of a scan. */
export function findingText(finding: Finding, decoder: ObdDecoder): string {
  if ('problem' in finding) return `problem: ${finding.problem}`;
  if ('parameters' in finding) {
    const { unit, name, vin, calibrations = [], lamp, parameters } = finding;
    const parts = [
      ...(name === undefined ? [] : [name]),
      ...(vin === undefined ? [] : [`VIN ${vin}`]),
      ...(calibrations.length === 0 ? [] : [`calibration ${calibrations.join(', ')}`]),
      ...(lamp === undefined ? [] : [`malfunction lamp ${lamp ? 'ON' : 'off'}`]),
      `${parameters.length} parameters`,
    ];
    return `control unit ${unit}: ${parts.join(', ')}`;
  }
  if ('values' in finding) {
    const { unit, command, values } = finding;
    const shown = Object.entries(values).map(([signal, value]) => {
      const measured = UNITS.get(decoder.unitOf(command, signal) ?? '');
      return `${signal}=${valueText(value)}${measured === undefined ? '' : ` ${measured}`}`;
    });
    return `${unit} ${command} ${shown.join(', ') || 'no value'}`;
  }
  if ('data' in finding) return `${finding.unit} ${finding.command} data ${finding.data}`;
  return standardTexts(finding).join('\n');
}

/** Formats the VIN and the fault codes. */
export function standardTexts({ vin, otherVins = [], faults }: StandardAnswers): readonly string[] {
  return [
    ...[...(vin === undefined ? [] : [vin]), ...otherVins].map((number) => `VIN ${number}`),
    ...(faults?.length === 0 ? ['no fault codes'] : (faults ?? []).map(faultText)),
  ];
}

/** Formats a fault code, e.g. `P0301 (confirmed; misfire: in cylinder 1; 7E8)`. */
function faultText({ code, status, name, unit }: Fault): string {
  return `${code} (${[status.join(', '), name, unit].filter((part) => part !== undefined && part !== '').join('; ')})`;
}

/** Rounds a value: 100/255 has infinitely many digits, and seven exceed the precision of any adapter. */
export function valueText(value: ObdValue): ObdValue {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
}
