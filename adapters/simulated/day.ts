import type { DriveOptions } from './drive.ts';
import type { Scene } from './scenario.ts';

/** Settings of a script. The rest follows from the movement of the car. */
export type Setting = Omit<Scene, 'indicator' | 'crash'>;

export interface ScriptedDrive extends Pick<DriveOptions, 'red'> {
  /** Distance of the drive in m; `home`: to the place where the day starts. */
  readonly way: number | 'home';
  /** Report of the restraint system, until the ignition is off, if the drive ends in a collision. */
  readonly crash?: NonNullable<Scene['crash']>;
}

/** Changes at one time. Omitted fields do not change. */
export interface DayStep extends Partial<Setting> {
  /** Time of the day as hh:mm:ss. */
  readonly at: string;
  /** Description for people. */
  readonly what: string;
  /** Starts a drive: the car pulls out now; the time of arrival results from the drive. */
  readonly drive?: ScriptedDrive;
  /** From now on the unit in the car has the right time. Before that, its clock is at its origin. */
  readonly timeKnown?: true;
}

const off = { ignition: 'Stop', powertrain: 'NotRunning', parkingBrake: true } as const;
const running = { ignition: 'Start', powertrain: 'Running', belted: true } as const;
const opened = { network: 'Awake', keyPresent: true, locked: false, armed: false } as const;
const left = { keyPresent: false, locked: true, armed: true, belted: false } as const;

/** A day of the bench car that contains every event that Vigie records. All times are those of the car. */
export const day: readonly DayStep[] = [
  { at: '00:00:00', what: 'parked at home since yesterday', network: 'Asleep', night: true, ...off, ...left },

  { at: '06:45:00', what: 'the owner gets in', ...opened, night: false, driverDoorOpen: true },
  { at: '06:45:06', what: 'shuts the door', driverDoorOpen: false, belted: true },
  { at: '06:45:12', what: 'turns the key', ignition: 'StartUp' },
  { at: '06:45:14', what: 'and starts', ignition: 'Start', powertrain: 'Starting' },
  { at: '06:45:15', what: 'it runs', ...running },
  {
    at: '06:45:20',
    what: 'to work; the engine stops at red lights',
    drive: { way: 5_000, red: 20 },
    parkingBrake: false,
  },
  { at: '06:48:00', what: 'the receiver has reported the time', timeKnown: true },
  { at: '06:49:00', what: 'into a tunnel', sky: false },
  { at: '06:50:15', what: 'and out of it', sky: true },
  { at: '06:53:00', what: 'at the baker’s, for two minutes', ...off },
  { at: '06:53:04', what: 'out', driverDoorOpen: true },
  { at: '06:53:09', what: 'door shut', driverDoorOpen: false },
  { at: '06:55:00', what: 'and on', ...running },
  { at: '06:55:10', what: 'to work', drive: { way: 3_600, red: 20 }, parkingBrake: false },
  { at: '06:56:00', what: 'the washer bottle runs low', washerLow: true },
  { at: '06:57:00', what: 'the engine lamp flickers', lamps: ['EngineFault'] },
  { at: '06:57:08', what: 'dark', lamps: [] },
  { at: '06:57:12', what: 'lit', lamps: ['EngineFault'] },
  { at: '06:57:20', what: 'dark', lamps: [] },
  { at: '06:57:26', what: 'lit', lamps: ['EngineFault'] },
  { at: '06:57:40', what: 'dark for good', lamps: [] },
  { at: '06:58:00', what: 'the oil lamp blinks once, too short to mean anything', lamps: ['OilPressure'] },
  { at: '06:58:01', what: 'dark', lamps: [] },
  { at: '07:02:00', what: 'at work', ...off },
  { at: '07:02:20', what: 'locked', ...left },
  { at: '07:03:00', what: 'asleep', network: 'Asleep' },

  { at: '12:04:30', what: 'to the fast charger next to it', ...opened },
  { at: '12:05:00', what: 'the washer bottle is filled', washerLow: false },
  { at: '12:05:20', what: 'plugged in', plugged: true, ...left },
  { at: '12:05:30', what: 'fast charge', network: 'Charging', charging: true, quick: true },
  { at: '12:15:00', what: 'back at the car', ...opened, charging: false },
  { at: '12:15:10', what: 'unplugged', plugged: false, quick: false },
  { at: '12:15:30', what: 'locked', ...left },
  { at: '12:16:10', what: 'asleep', network: 'Asleep' },

  { at: '14:00:00', what: 'a private errand', ...opened },
  { at: '14:00:15', what: 'starts', ...running },
  { at: '14:00:30', what: 'pulls out', drive: { way: 8_000 }, parkingBrake: false },
  { at: '14:03:00', what: 'the driver hides the position', privacy: 'Geolocation' },
  { at: '14:05:00', what: 'nor anything else', privacy: 'Full' },
  { at: '14:06:00', what: 'brake pads worn, privately', lamps: ['BrakePads'] },
  { at: '14:06:40', what: 'lamp dark', lamps: [] },
  { at: '14:08:00', what: 'no secrets any more', privacy: 'None' },
  { at: '14:12:30', what: 'parked in a side street', ...off },
  { at: '14:12:50', what: 'locked', ...left },
  { at: '14:13:30', what: 'asleep', network: 'Asleep' },

  { at: '16:30:00', what: 'broken into', network: 'Awake', driverDoorOpen: true, trigger: 'FrontLeftDoorBreakIn' },
  { at: '16:30:20', what: 'the thief is in', driverDoorOpen: false },
  { at: '16:31:00', what: 'started without key', ...running, trigger: 'UnauthenticatedStartup' },
  { at: '16:31:20', what: 'driven away', drive: { way: 3_000 }, parkingBrake: false },
  { at: '16:33:00', what: 'the siren stops', trigger: 'NoBreakIn' },
  { at: '16:36:00', what: 'left somewhere', ...off, belted: false },
  { at: '16:37:00', what: 'asleep', network: 'Asleep' },

  { at: '18:00:00', what: 'the owner finds it', ...opened },
  { at: '18:00:20', what: 'starts', ...running },
  {
    at: '18:00:40',
    what: 'and runs into the car in front behind a red light',
    drive: { way: 627, crash: { side: 'Front', severity: 'Minor' } },
    parkingBrake: false,
  },
  { at: '18:05:00', what: 'switched off', ...off, belted: false, driverDoorOpen: true },
  { at: '18:05:30', what: 'papers are exchanged', driverDoorOpen: false, ...left },
  { at: '18:06:30', what: 'asleep', network: 'Asleep', serviceDays: 211 },

  { at: '19:30:00', what: 'home at last', ...opened, night: true },
  { at: '19:30:15', what: 'starts', ...running },
  { at: '19:30:30', what: 'pulls out', drive: { way: 'home' }, parkingBrake: false },
  { at: '19:32:00', what: 'a tyre loses air', lamps: ['TyrePressureFL'] },
  { at: '19:36:00', what: 'or does it', lamps: [] },
  { at: '19:45:00', what: 'at home', ...off },
  { at: '19:45:20', what: 'plugged in', plugged: true, ...left },
  { at: '19:45:30', what: 'charging until the tariff changes', network: 'Charging', charging: true },
  { at: '19:55:00', what: 'asleep', network: 'Asleep', charging: false },
];
