/**
 * Names of the trouble codes of the standard that cars report most often (ISO 15031-6 Annex, SAE J2012-DA), in our
 * words. The standard numbers them in runs: a component, then its faults. `troubleCode` returns the group of codes that
 * are not listed here.
 */

type Run = readonly [first: number, subject: string, faults: readonly string[]];

/** The usual five faults of a sensor. */
const SENSOR = ['circuit', 'out of range or implausible', 'signal low', 'signal high', 'intermittent'];
/** Faults of sensors that count teeth: no signal instead of a low or high signal. */
const SPEED = ['circuit', 'out of range or implausible', 'no signal', 'intermittent'];
const OXYGEN = ['circuit', 'voltage low', 'voltage high', 'slow', 'no activity', 'heater circuit'];
const CONTROL = ['control circuit', 'control circuit low', 'control circuit high'];
const SOLENOID = ['circuit', 'performance or stuck off', 'stuck on', 'electrical', 'intermittent'];

const POWERTRAIN: readonly Run[] = [
  [0x0010, 'camshaft actuator A, bank 1', ['circuit', 'timing too advanced', 'timing too retarded']],
  [0x0020, 'camshaft actuator A, bank 2', ['circuit', 'timing too advanced', 'timing too retarded']],
  [0x0030, 'heater of oxygen sensor 1, bank 1', CONTROL],
  [0x0036, 'heater of oxygen sensor 2, bank 1', CONTROL],
  [0x0050, 'heater of oxygen sensor 1, bank 2', CONTROL],
  [0x0056, 'heater of oxygen sensor 2, bank 2', CONTROL],
  [0x0100, 'air flow sensor A', SENSOR],
  [0x0105, 'manifold or barometric pressure sensor', SENSOR],
  [0x0110, 'intake air temperature sensor 1', SENSOR],
  [0x0115, 'coolant temperature sensor 1', SENSOR],
  [0x0120, 'throttle or pedal position sensor A', SENSOR],
  [0x0125, 'coolant', ['too cold for closed loop fuel control']],
  [0x0128, 'coolant thermostat', ['below its regulating temperature']],
  [0x0130, 'oxygen sensor 1, bank 1', OXYGEN],
  [0x0136, 'oxygen sensor 2, bank 1', OXYGEN],
  [0x0142, 'oxygen sensor 3, bank 1', OXYGEN],
  [0x0150, 'oxygen sensor 1, bank 2', OXYGEN],
  [0x0156, 'oxygen sensor 2, bank 2', OXYGEN],
  [0x0162, 'oxygen sensor 3, bank 2', OXYGEN],
  [0x0170, 'fuel mixture, bank 1', ['trim', 'too lean', 'too rich']],
  [0x0173, 'fuel mixture, bank 2', ['trim', 'too lean', 'too rich']],
  [0x0180, 'fuel temperature sensor A', SENSOR],
  [0x0190, 'fuel rail pressure sensor A', SENSOR],
  [0x0195, 'oil temperature sensor', SENSOR],
  [0x0200, 'injectors', ['circuit']],
  [0x0220, 'throttle or pedal position sensor B', SENSOR],
  [0x0225, 'throttle or pedal position sensor C', SENSOR],
  [0x0234, 'turbocharger A', ['pressure too high']],
  [0x0299, 'turbocharger A', ['pressure too low']],
  [0x0300, 'misfire', ['in random or several cylinders']],
  [0x0325, 'knock sensor 1', SENSOR],
  [0x0330, 'knock sensor 2', SENSOR],
  [0x0335, 'crankshaft sensor A', SENSOR],
  [0x0340, 'camshaft sensor A, bank 1', SENSOR],
  [0x0345, 'camshaft sensor A, bank 2', SENSOR],
  [
    0x0400,
    'exhaust gas recirculation A',
    ['flow', 'too little flow', 'too much flow', 'control circuit', 'control implausible'],
  ],
  [0x0420, 'catalyst, bank 1', ['efficiency too low']],
  [0x0430, 'catalyst, bank 2', ['efficiency too low']],
  [0x0440, 'evaporative system', ['fault', 'wrong purge flow', 'small leak', 'purge valve circuit']],
  [0x0446, 'evaporative system', ['vent control circuit']],
  [0x0450, 'evaporative system pressure sensor', SENSOR],
  [0x0455, 'evaporative system', ['large leak', 'very small leak']],
  [0x0460, 'fuel level sensor A', SENSOR],
  [0x0500, 'vehicle speed sensor A', ['fault', 'out of range or implausible', 'signal low', 'intermittent or erratic']],
  [0x0505, 'idle control', ['fault', 'speed too low', 'speed too high']],
  [0x0520, 'oil pressure sensor A', ['circuit', 'out of range or implausible', 'signal low', 'signal high']],
  [0x0524, 'oil pressure', ['too low']],
  [0x0560, 'supply voltage', ['fault', 'unstable', 'too low', 'too high']],
  [
    0x0600,
    'control unit',
    [
      'serial link',
      'checksum of its memory',
      'not programmed',
      'keep alive memory',
      'working memory',
      'program memory',
      'processor',
    ],
  ],
  [0x0700, 'gearbox control', ['asks for the malfunction lamp']],
  [0x0705, 'gear lever sensor A', SENSOR],
  [0x0710, 'gearbox oil temperature sensor A', SENSOR],
  [0x0715, 'gearbox input speed sensor A', SPEED],
  [0x0720, 'gearbox output speed sensor', SPEED],
  [0x0730, 'gearbox', ['wrong ratio']],
  [0x0740, 'torque converter clutch', SOLENOID],
  [0x0745, 'pressure control solenoid A', SOLENOID],
  [0x0750, 'shift solenoid A', SOLENOID],
  [0x0755, 'shift solenoid B', SOLENOID],
  [0x0760, 'shift solenoid C', SOLENOID],
];

/** Control units with lost communication, by the code of network U. */
const LOST: readonly (readonly [code: number, unit: string])[] = [
  [0x0100, 'engine'],
  [0x0101, 'gearbox'],
  [0x0121, 'anti-lock brakes'],
  [0x0126, 'steering angle sensor'],
  [0x0131, 'power steering'],
  [0x0140, 'body'],
  [0x0151, 'airbags'],
  [0x0155, 'instrument panel'],
  [0x0164, 'air conditioning'],
];

/** Codes of the twelve cylinders: injector, misfire, ignition coil. */
const CYLINDERS: readonly (readonly [first: number, name: (cylinder: number) => string])[] = [
  [0x0201, (cylinder) => `injector of cylinder ${cylinder}: circuit`],
  [0x0301, (cylinder) => `misfire: in cylinder ${cylinder}`],
  [0x0351, (cylinder) => `ignition coil ${String.fromCharCode(64 + cylinder)}: primary circuit`],
];

const NAMES: ReadonlyMap<string, string> = new Map([
  ...POWERTRAIN.flatMap(([first, subject, faults]) =>
    faults.map((fault, i): [string, string] => [codeOf('P', first, i), `${subject}: ${fault}`]),
  ),
  ...CYLINDERS.flatMap(([first, name]) =>
    Array.from({ length: 12 }, (_, i): [string, string] => [codeOf('P', first, i), name(i + 1)]),
  ),
  ...LOST.map(([code, unit]): [string, string] => [
    codeOf('U', code, 0),
    `no communication with the ${unit} control unit`,
  ]),
]);

/** Returns the code at `offset` in a run. Runs count in decimal, although codes are written as hexadecimal digits. */
function codeOf(letter: string, first: number, offset: number): string {
  const decimal = Number.parseInt(first.toString(16), 10) + offset;
  return letter + String(decimal).padStart(4, '0');
}

/**
 * Returns the meaning of a trouble code, e.g. `P0301`; for a UDS code (`P0301-1C`), of the part before the failure
 * type. Undefined for manufacturer codes and codes not listed.
 */
export function troubleCodeName(code: string): string | undefined {
  return NAMES.get(code.slice(0, 5).toUpperCase());
}

/** All codes that have a name here. */
export const namedTroubleCodes: readonly string[] = [...NAMES.keys()].sort();
