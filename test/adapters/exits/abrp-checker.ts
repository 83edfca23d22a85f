/** Checks a message with the fields and units of Iternio's published telemetry interface (`1/tlm/send`). */

/** Published fields with their type, and the range of numbers. */
const FIELDS: Readonly<Record<string, readonly [least: number, most: number] | 'flag'>> = {
  utc: [1_500_000_000, 4_000_000_000],
  soc: [0, 100],
  power: [-1_000, 1_000],
  speed: [-50, 400],
  lat: [-90, 90],
  lon: [-180, 180],
  is_charging: 'flag',
  is_dcfc: 'flag',
  is_parked: 'flag',
  capacity: [1, 500],
  soe: [0, 500],
  soh: [0, 120],
  heading: [0, 360],
  elevation: [-500, 9_000],
  ext_temp: [-60, 70],
  batt_temp: [-60, 100],
  voltage: [0, 1_500],
  current: [-2_000, 2_000],
  odometer: [0, 5_000_000],
  est_battery_range: [0, 2_000],
  kwh_charged: [0, 500],
};

/** Returns the faults of a request's body. */
export function abrpFaults(body: unknown): string[] {
  const { token, tlm, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const faults = Object.keys(others).map((name) => `${name} is not a member of a request`);
  if (typeof token !== 'string' || token === '') faults.push('token is missing');
  const fields = (tlm ?? {}) as Readonly<Record<string, unknown>>;
  for (const needed of ['utc', 'soc']) if (fields[needed] === undefined) faults.push(`${needed} is missing`);
  for (const [name, value] of Object.entries(fields)) {
    const form = FIELDS[name];
    if (form === undefined) faults.push(`${name} is not a published field`);
    else if (form === 'flag') {
      if (typeof value !== 'boolean') faults.push(`${name} is not true or false`);
    } else if (typeof value !== 'number' || !(form[0] <= value && value <= form[1])) {
      faults.push(`${name} ${String(value)} is not from ${form[0]} to ${form[1]}`);
    }
  }
  return faults;
}
