/**
 * Layout of the signals of Peugeot, Citroën and DS (AEE2010), recorded independently of the profile's DBC files. Bytes
 * count from 1, bits within a byte from 7 down to 0, highest bit of a value first.
 */
export interface Place {
  readonly id: number;
  /** `1.7-2.0`, or a single bit. */
  readonly bits: string;
  /** Physical value = raw × factor + offset. */
  readonly factor: number;
  readonly offset: number;
}

const at = (id: number, bits: string, factor = 1, offset = 0): Place => ({ id, bits, factor, offset });

/** By message and signal. */
export const psaPlaces: Readonly<Record<string, Place>> = {
  'CRANKSHAFT.Speed': at(0x208, '1.7-2.0', 0.125),
  'ENGINE_STATE.GearEstimate': at(0x348, '1.7-1.4'),
  'ENGINE_STATE.RunState': at(0x348, '6.3-6.0'),
  'GEARBOX_STATE.TargetGear': at(0x349, '4.7-4.4'),
  'STABILITY.Intervenes': at(0x34d, '1.6'),
  'ENGINE_MOTION.Speed': at(0x388, '1.7-2.0', 0.01),
  'ENGINE_MOTION.Acceleration': at(0x388, '5.7-5.0', 0.08, -14),
  'WHEEL_MOTION.Speed': at(0x38d, '1.7-2.0', 0.01),
  'WHEEL_MOTION.Acceleration': at(0x38d, '5.7-5.0', 0.08, -14),
  'WHEEL_MOTION.Moving': at(0x38d, '7.1-7.0'),
  'BODY_STATE.ParkingBrake': at(0x412, '1.3'),
  'BODY_STATE.Roof': at(0x412, '5.1-5.0'),
  'BODY_STATE.RearWindow': at(0x412, '7.2'),
  'BODY_STATE.DoorDriver': at(0x412, '7.3'),
  'BODY_STATE.DoorPassenger': at(0x412, '7.4'),
  'BODY_STATE.DoorRearLeft': at(0x412, '7.5'),
  'BODY_STATE.DoorRearRight': at(0x412, '7.6'),
  'BODY_STATE.Boot': at(0x412, '7.7'),
  'SUPPLY_STATE.Contact': at(0x432, '7.1-7.0'),
  'DRIVER_CONTROLS.SpeedControl': at(0x452, '1.1-1.0'),
  'DRIVER_CONTROLS.TurnSignal': at(0x452, '1.5-1.4'),
  'DRIVER_CONTROLS.FrontWiper': at(0x452, '1.7-1.6'),
  'ENGINE_TEMPERATURES.Coolant': at(0x488, '1.7-1.0', 1, -40),
  'ENGINE_TEMPERATURES.Oil': at(0x488, '6.7-6.0', 1, -40),
  'ENGINE_TEMPERATURES.IntakeAir': at(0x488, '8.7-8.0', 1, -40),
  'ANTILOCK.Intervenes': at(0x50d, '1.5'),
  'TOTALS.Mileage': at(0x552, '5.7-7.0'),
  'OCCUPANTS.BuckleDriver': at(0x572, '1.7-1.6'),
  'SURROUNDINGS.OutsideTemperature': at(0x5b2, '3.7-3.0', 0.5, -40),
  'CAR_STATE.ContactAndEngine': at(0x0f6, '1.4-1.0'),
  'CAR_STATE.Coolant': at(0x0f6, '2.7-2.0', 1, -40),
  'CAR_STATE.Mileage': at(0x0f6, '3.7-5.0', 0.1),
  'CAR_STATE.OutsideTemperature': at(0x0f6, '7.7-7.0', 0.5, -40),
  'CAR_STATE.TurnSignal': at(0x0f6, '8.1-8.0'),
  'CAR_STATE.FrontWiper': at(0x0f6, '8.6'),
  'CLUSTER.RearFog': at(0x128, '1.3'),
  'CLUSTER.FrontFog': at(0x128, '1.4'),
  'CLUSTER.GearShown': at(0x128, '2.7-2.4'),
  'CLUSTER.ShiftAdvice': at(0x128, '3.3-3.2'),
  'CLUSTER.GearboxProgram': at(0x128, '3.6-3.4'),
  'CLUSTER.ParkingBrake': at(0x128, '4.1'),
  'CLUSTER.StabilityIntervenes': at(0x128, '5.1'),
  'CLUSTER.BeltPassenger': at(0x128, '6.4'),
  'CLUSTER.BeltDriver': at(0x128, '6.6'),
  'LEVELS.OilTemperature': at(0x161, '3.7-3.0', 1, -40),
  'LEVELS.Fuel': at(0x161, '4.7-4.0'),
  'LEVELS.Oil': at(0x161, '7.7-7.0'),
  'PREFERENCES.Privacy': at(0x220, '3.7-3.6'),
  'TRIP_COMPUTER.Consumption': at(0x221, '2.7-3.0', 0.1),
  'TRIP_COMPUTER.Range': at(0x221, '4.7-5.0'),
};

/** First and last bit, counted from the highest bit of the first byte. */
export function bitsOf(text: string): readonly [from: number, to: number] {
  const [from = Number.NaN, to = from] = text.split('-').map((place) => {
    const [byte, bit] = place.split('.').map(Number) as [number, number];
    return (byte - 1) * 8 + 7 - bit;
  });
  return [from, to];
}
