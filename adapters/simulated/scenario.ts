import type { Motion } from './drive.ts';

/** Lamps and messages of the instrument cluster that are nobody's but the script's. */
export const lamps = ['Battery12V', 'EngineFault', 'OilPressure', 'TyrePressureFL', 'BrakePads'] as const;
export type Lamp = (typeof lamps)[number];

/** What the people around the car do at one moment. */
export interface Scene {
  /** How much of the network is awake; `Charging` is the part that a charging car needs. */
  readonly network: 'Asleep' | 'Charging' | 'Awake';
  readonly ignition: 'Stop' | 'StartUp' | 'Start';
  readonly powertrain: 'NotRunning' | 'Starting' | 'Running' | 'Stopping' | 'Stopped';
  readonly plugged: boolean;
  /** The charger is told to charge. */
  readonly charging: boolean;
  /** It is a fast charger. */
  readonly quick: boolean;
  readonly driverDoorOpen: boolean;
  readonly passengerDoorOpen: boolean;
  /** What somebody with a key turned the lock to; undefined: nobody did, it is as commands left it. */
  readonly locked: boolean | undefined;
  readonly keyPresent: boolean;
  /** Undefined: the alarm is armed while the car is locked and switched off. */
  readonly armed: boolean | undefined;
  /** What set the alarm off, a name of ALARM.Trigger. */
  readonly trigger: string;
  readonly belted: boolean;
  readonly parkingBrake: boolean;
  /** Turn lamps flashing. */
  readonly indicator: 'None' | 'Left' | 'Right';
  readonly rain: 'None' | 'Light' | 'Heavy';
  readonly night: boolean;
  /** The receiver sees satellites. */
  readonly sky: boolean;
  /** The washer bottle has run low. */
  readonly washerLow: boolean;
  readonly lamps: readonly Lamp[];
  readonly privacy: 'None' | 'Geolocation' | 'Full';
  /** What the restraint system says of a crash: side and severity of SAFETY. */
  readonly crash: { readonly side: string; readonly severity: string } | undefined;
  /** Days until the next service. */
  readonly serviceDays: number;
}

/** A car that nobody is at. */
export const parked: Scene = {
  network: 'Awake',
  ignition: 'Stop',
  powertrain: 'NotRunning',
  plugged: false,
  charging: false,
  quick: false,
  driverDoorOpen: false,
  passengerDoorOpen: false,
  locked: undefined,
  keyPresent: false,
  armed: undefined,
  trigger: 'NoBreakIn',
  belted: false,
  parkingBrake: true,
  indicator: 'None',
  rain: 'None',
  night: false,
  sky: true,
  washerLow: false,
  lamps: [],
  privacy: 'None',
  crash: undefined,
  serviceDays: 212,
};

/** `loop`: a day in a few minutes, again and again; `parked`: charging at the kerb; `day`: twenty-four hours. */
export type ScenarioName = 'loop' | 'parked' | 'day';

/** What happens to the car. Times are ms since the scenario began, less than `period`. */
export interface Scenario {
  /** Length, whole ms; then it begins again. */
  readonly period: number;
  /** Way that the car makes in it, m. */
  readonly way: number;
  /** False: the scenario's time stands still. */
  readonly passes: boolean;
  /** `distance` is from the begin of the scenario. */
  motion(elapsed: number): Motion;
  /** `toBend` is the way to the next left turn, m (negative within it, Infinity when none follows). */
  scene(elapsed: number, motion: Motion, toBend: number): Scene;
  /** Time until anything happens to a car whose network is asleep, ms; 0 for one that is awake. */
  asleep(elapsed: number): number;
}
