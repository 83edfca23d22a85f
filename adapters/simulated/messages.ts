import { CAPACITY, HEALTH, TANK, USABLE } from './drivetrain.ts';
import { lamps, type Scene } from './scenario.ts';
import type { SimulatedVehicle } from './vehicle.ts';

/** Values by signal name: physical values, or names in the signal's value table. */
export type Values = Record<string, number | string>;

/** One cyclic message of the car. */
export interface CyclicMessage {
  readonly message: string;
  /** Cycle time in ms. */
  readonly cycle: number;
  /** True if it contains `Counter` and `Checksum`, which the sender adds. */
  readonly secured?: true;
  /**
   * Condition for sending. `Charging`: also sent by the charging part of the network; `Ignition`: only while it is on.
   */
  readonly while?: 'Charging' | 'Ignition';
  /**
   * Returns the values to send. `sent`: number of earlier transmissions of the message. `later`: time in ms since the
   * start of the tick.
   */
  values(car: SimulatedVehicle, sent: number, later: number): Values;
}

const cyclic = (message: string, cycle: number, values: CyclicMessage['values']): CyclicMessage => {
  return { message, cycle, values };
};
const secured: typeof cyclic = (...row) => ({ ...cyclic(...row), secured: true });
const whileOn: typeof cyclic = (...row) => ({ ...cyclic(...row), while: 'Ignition' });
const whileCharging: typeof cyclic = (...row) => ({ ...cyclic(...row), while: 'Charging' });

/** Range in m/s² of MOTION.Acceleration. */
const HARDEST = 20.47;
/** Speed limit of the streets of the route in km/h. */
const LIMIT = 50;
/** Distance in km between two services. */
const SERVICE = 20_000;
/** Level (%) and temperature (degC) of the cluster's warnings. */
const FUEL_LOW = 12;
const ICE = 3;
/** Tyre pressure in bar at 20 degC, and the increase per degree. */
const PRESSURE = 2.4;
const PRESSURE_PER_DEGREE = 0.008;
const MAX_INSTANT = 102.2;

const wheels = ['FL', 'FR', 'RL', 'RR'] as const;

/** All messages of the car, lowest identifier first, like arbitration on the bus. */
export const transmissions: readonly CyclicMessage[] = [
  secured('SAFETY', 100, ({ scene }) => ({
    DriverBuckle: buckle(scene.belted),
    PassengerBuckle: buckle(scene.belted),
    CollisionSide: scene.crash?.side ?? 'None',
    CollisionSeverity: scene.crash?.severity ?? 'None',
    EmergencyCall: 'NotDetected',
  })),
  secured('POWERTRAIN', 40, ({ scene, motion, drivetrain }) => ({
    IgnitionState: scene.ignition,
    PowertrainState: scene.powertrain,
    MotorSpeed: Math.round(drivetrain.motorSpeed(motion.speed)),
    MotorPower: drivetrain.engineRunning ? Math.min(0, drivetrain.power / 1000) : drivetrain.power / 1000,
  })),
  secured('MOTION', 20, ({ scene, motion, drivetrain, speed }) => ({
    Speed: speed,
    Acceleration: Math.max(-HARDEST, Math.min(HARDEST, motion.acceleration)),
    GearRatio: scene.powertrain === 'Running' ? `Ratio${drivetrain.gear(motion.speed)}` : 'Neutral',
    Moving: yes(speed > 0),
  })),
  secured('STEERING', 20, ({ steering, yawRate }) => ({ SteeringAngle: steering, YawRate: yawRate })),
  whileOn('ACCELEROMETER', 10, (car, _sent, later) => {
    const { longitudinal, lateral, vertical } = car.accelerations(later);
    return { Longitudinal: longitudinal, Lateral: lateral, Vertical: vertical };
  }),
  cyclic('ODOMETER', 100, ({ odometer, trip }) => ({ Mileage: odometer / 1000, TripDistance: trip / 1000 })),
  secured('BODY', 100, ({ scene, units: { lock, horn, immobilizer } }) => ({
    DoorFL: open(scene.driverDoorOpen),
    DoorFR: open(scene.passengerDoorOpen),
    LockState: lock.on ? 'Locked' : 'Unlocked',
    LockMotor: lock.moving ? 'Turning' : 'Still',
    KeyPresent: yes(scene.keyPresent),
    HornSounding: yes(horn.on),
    ImmobilizerActive: yes(immobilizer.on),
  })),
  cyclic('LIGHTS', 100, ({ scene, units: { hazard } }) => ({
    TurnFL: on(hazard.on || scene.indicator === 'Left'),
    TurnRL: on(hazard.on || scene.indicator === 'Left'),
    TurnFR: on(hazard.on || scene.indicator === 'Right'),
    TurnRR: on(hazard.on || scene.indicator === 'Right'),
    FogRL: on(scene.rain === 'Heavy'),
    FogRR: on(scene.rain === 'Heavy'),
    LowBeam: on(scene.ignition === 'Start' && (scene.night || scene.rain !== 'None')),
    Daylight: scene.night ? 'Night' : 'Day',
  })),
  cyclic('WIPERS', 200, ({ scene }) => ({
    FrontWiper: { None: 'Off', Light: 'Low', Heavy: 'High' }[scene.rain],
    Rain: { None: 0, Light: 30, Heavy: 80 }[scene.rain],
  })),
  cyclic('CLIMATE', 500, ({ outside, units: { climate } }) => ({
    OutsideTemp: outside,
    PreconditioningState: climate.state,
    StartingCause: climate.state === 'Enabled' ? 'Immediate' : 'None',
    FailureCause: climate.failure,
    CabinTemp: climate.cabin,
  })),
  whileCharging('BATTERY12V', 1000, ({ voltage, scene }) => ({
    Voltage: voltage,
    StateOfHealth: scene.battery12V,
    Current: scene.powertrain === 'Running' || scene.charging ? 6.5 : -0.4,
  })),
  whileCharging('TRACTION_BATTERY', 200, ({ drivetrain }) => ({
    Level: share(drivetrain.charge, USABLE),
    Capacity: CAPACITY,
    Residual: Math.round(drivetrain.charge),
    HealthCapacity: HEALTH * 100,
    HealthResistance: 98,
  })),
  whileCharging('CHARGING', 200, ({ drivetrain, scene, units: { charger } }) => {
    const charging = drivetrain.chargingPower(scene) > 0;
    const level = scene.quick ? 'Level5' : 'Level3';
    return {
      Plugged: yes(scene.plugged),
      Status: drivetrain.chargingStatus(scene),
      Mode: !charging ? 'No' : scene.quick ? 'Quick' : 'Slow',
      Type: charger.partial ? 'Partial' : 'Full',
      PowerLevel: charger.level > 0 ? `Level${charger.level}` : charging ? level : 'None',
      Power: drivetrain.chargingPower(scene) / 1000,
      RemainingTime: charging ? drivetrain.chargingTime(scene) : 'SNA',
      Rate: drivetrain.chargingRate(scene),
      Range: drivetrain.electricRange,
    };
  }),
  cyclic('FUEL', 500, ({ drivetrain, motion }) => ({
    Level: share(drivetrain.fuel, TANK),
    InstantConsumption: perHundred(drivetrain.flow, motion.speed),
    TotalConsumption: Math.floor(drivetrain.burnt * 100),
    Range: drivetrain.fuelRange,
  })),
  cyclic('ENGINE', 40, ({ drivetrain, motion, outside }) => ({
    Speed: drivetrain.engineSpeed(motion.speed),
    CoolantTemp: Math.round(drivetrain.coolant),
    CoolantLevel: 92,
    OilTemp: Math.round(drivetrain.oil),
    OilLevel: 78.5,
    IntakeTemp: Math.round(outside + (drivetrain.engineRunning ? 6 : 0)),
  })),
  cyclic('GNSS_FIX', 200, ({ located, place, satellites }) =>
    located
      ? {
          Altitude: place.altitude,
          Heading: (Math.round(place.heading * 10) % 3600) / 10,
          Fix: '3D',
          Type: 'Acquire',
          Satellites: satellites,
          SignalQuality: Math.min(9, satellites - 4),
        }
      : { Altitude: 'SNA', Heading: 'SNA', Fix: 'None', Type: 'SNA', Satellites: 'SNA', SignalQuality: 'SNA' },
  ),
  cyclic('GNSS', 200, ({ located, place }) =>
    located ? { Latitude: place.latitude, Longitude: place.longitude } : { Latitude: 'SNA', Longitude: 'SNA' },
  ),
  cyclic('MAINTENANCE', 1000, ({ odometer, scene }) => ({
    Days: scene.serviceDays,
    Distance: SERVICE - (Math.floor(odometer / 1000) % SERVICE),
  })),
  cyclic('WARNINGS', 200, ({ scene, drivetrain, outside, motion }) => ({
    FuelLow: on(share(drivetrain.fuel, TANK) < FUEL_LOW),
    DriverDoorOpen: on(scene.driverDoorOpen),
    PassengerDoorOpen: on(scene.passengerDoorOpen),
    RiskOfIce: on(outside < ICE),
    AddWasherFluid: on(scene.washerLow),
    DriverBelt: on(!scene.belted && motion.speed > 0),
    ...lampStates(scene),
  })),
  cyclic('ALARM', 200, ({ units: { lock }, scene }) => ({
    Activation: (scene.armed ?? (lock.on && scene.ignition === 'Stop')) ? 'Active' : 'Inactive',
    Trigger: scene.trigger,
  })),
  cyclic('ADAS', 100, ({ scene, motion }) => {
    const driving = scene.powertrain === 'Running';
    return {
      CruiseControl: driving ? 'StandBy' : 'Off',
      LaneKeepingLeft: laneKeeping(driving, motion.speed),
      LaneKeepingRight: laneKeeping(driving, motion.speed),
      BlindSpot: driving ? 'Active' : 'Inactive',
      ParkFront: driving && motion.speed < 3 ? 'Active' : 'Wait',
      ParkRear: 'Wait',
      ParkingBrake: yes(scene.parkingBrake),
      DistanceAlert: driving ? 'Selected' : 'NotSelected',
      SpeedLimit: driving ? LIMIT : 'SNA',
    };
  }),
  cyclic('MODES', 500, ({ scene }) => ({
    DrivingMode: 'Hybrid',
    Privacy: scene.privacy,
    GearboxAutomatic: 'Yes',
    GearboxSport: 'No',
  })),
  cyclic('TYRES', 500, ({ outside, scene }, sent) => {
    const wheel = wheels[sent % wheels.length] as string;
    const temperature = outside + (scene.powertrain === 'Running' ? 8 : 3);
    return {
      Wheel: wheel,
      [`Pressure${wheel}`]: PRESSURE + (temperature - 20) * PRESSURE_PER_DEGREE,
      [`Temp${wheel}`]: Math.round(temperature),
    };
  }),
  cyclic('NAVIGATION', 200, ({ units: { navigator } }) => ({
    Transfer: navigator.transfer,
    Positions: navigator.positions.length,
  })),
];

function yes(truth: boolean): string {
  return truth ? 'Yes' : 'No';
}

function on(truth: boolean): string {
  return truth ? 'On' : 'Off';
}

function open(truth: boolean): string {
  return truth ? 'Open' : 'Closed';
}

function lampStates(scene: Scene): Values {
  return Object.fromEntries(lamps.map((lamp) => [lamp, on(scene.lamps.includes(lamp))]));
}

function buckle(fastened: boolean): string {
  return fastened ? 'Fastened' : 'Open';
}

/** Returns a share in percent. */
function share(part: number, whole: number): number {
  return Math.min(100, Math.max(0, (100 * part) / whole));
}

/** Returns L/100 km for `flow` L/h at `speed` m/s; a standing car has no consumption per distance. */
function perHundred(flow: number, speed: number): number | string {
  if (speed < 1) return flow > 0 ? 'SNA' : 0;
  return Math.min(MAX_INSTANT, (flow / (speed * 3.6)) * 100);
}

function laneKeeping(driving: boolean, speed: number): string {
  if (!driving) return 'NotSelected';
  return speed > 15 ? 'Authorized' : 'NotAuthorized';
}
