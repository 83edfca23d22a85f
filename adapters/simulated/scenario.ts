import type { Motion } from './drive.ts';

/** Lamps and messages of the instrument cluster that only the script controls. */
export const lamps = ['Battery12V', 'EngineFault', 'OilPressure', 'TyrePressureFL', 'BrakePads'] as const;
export type Lamp = (typeof lamps)[number];

/** Control units that obey requests on the bus. */
export const parts = ['Network', 'Lock', 'Hazard', 'Horn', 'Charger', 'Climate', 'Immobilizer', 'Navigation'] as const;
export type Part = (typeof parts)[number];

/** Actions of people around the car, and faults of the car, at one time. */
export interface Scene {
  /** Awake part of the network; `Charging` is the part that a charging car needs. */
  readonly network: 'Asleep' | 'Charging' | 'Awake';
  readonly ignition: 'Stop' | 'StartUp' | 'Start';
  readonly powertrain: 'NotRunning' | 'Starting' | 'Running' | 'Stopping' | 'Stopped';
  readonly plugged: boolean;
  /** True if the people at the car request charging. */
  readonly charging: boolean;
  /** True if the station is a fast charger. */
  readonly quick: boolean;
  readonly driverDoorOpen: boolean;
  readonly passengerDoorOpen: boolean;
  /** Lock position set by a person with a key; undefined: no person changed it since the last command. */
  readonly locked: boolean | undefined;
  readonly keyPresent: boolean;
  /** State of the alarm. Undefined: it is armed while the car is locked and switched off. */
  readonly armed: boolean | undefined;
  /** Trigger of the alarm, a name of ALARM.Trigger. */
  readonly trigger: string;
  readonly belted: boolean;
  readonly parkingBrake: boolean;
  /** Flashing turn lamps. */
  readonly indicator: 'None' | 'Left' | 'Right';
  readonly rain: 'None' | 'Light' | 'Heavy';
  readonly night: boolean;
  /** True if the receiver has satellites in view. */
  readonly sky: boolean;
  /** True if the washer fluid is low. */
  readonly washerLow: boolean;
  readonly lamps: readonly Lamp[];
  readonly privacy: 'None' | 'Geolocation' | 'Full';
  /** Report of the restraint system on a crash: side and severity of SAFETY. */
  readonly crash: { readonly side: string; readonly severity: string } | undefined;
  /** Days until the next service. */
  readonly serviceDays: number;
  /** Charge of the 12 V battery in %. */
  readonly battery12V: number;
  /** Speed in km/h at which the car is pushed or towed. */
  readonly rolling: number;
  /** Charging fault: the station supplies no power, or the charger is defective. */
  readonly chargingFault: 'None' | 'NoPower' | 'Failure';
  /** Reason why preconditioning fails, a name of CLIMATE.FailureCause. */
  readonly climateFault: string;
  /** Parts that receive requests and ignore them. */
  readonly deaf: readonly Part[];
  /** Delay in ms of parts that obey. */
  readonly late: number;
  /** Messages that are not sent. */
  readonly silent: readonly string[];
}

/** Scene of a parked car without people. */
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
  battery12V: 91,
  rolling: 0,
  chargingFault: 'None',
  climateFault: 'None',
  deaf: [],
  late: 0,
  silent: [],
};

/** `loop`: a day in a few minutes, again and again; `parked`: charging at the kerb; `day`: twenty-four hours. */
export type ScenarioName = 'loop' | 'parked' | 'day';

/** Events of the car. Times are ms since the start of the scenario, less than `period`. */
export interface Scenario {
  /** Length in whole ms; after that the scenario repeats. */
  readonly period: number;
  /** Distance in m that the car drives in one period. */
  readonly way: number;
  /** False: the time of the scenario does not advance. */
  readonly passes: boolean;
  /** Returns speed and distance at a time of the scenario; the distance is measured from its start. */
  motion(elapsed: number): Motion;
  /**
   * Returns the scene. `toBend`: distance in m to the next left turn (negative within it, Infinity if none follows).
   */
  scene(elapsed: number, motion: Motion, toBend: number): Scene;
  /** Returns the time in ms until the next event of a car with a sleeping network; 0 if it is awake. */
  asleep(elapsed: number): number;
}
