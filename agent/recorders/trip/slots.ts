/** Slots that the trip recorder uses. */
import { type Slot, slotByPath } from '../../../protocol/slots.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;

export const speed = slot('kinetic.speed');
export const moving = slot('kinetic.moving');
export const mileage = slot('odometer.mileage');
export const latitude = slot('lastPosition.latitude');
export const longitude = slot('lastPosition.longitude');
export const ignition = slot('ignition.type');
export const powertrain = slot('powertrain.status');
export const thermicSpeed = slot('engines.Thermic.speed');
export const electricSpeed = slot('engines.Electric.speed');
export const drivingMode = slot('drivingBehavior.mode');
export const privacy = slot('privacy.state');
export const chargingStatus = slot('energies.Electric.extension.electric.charging.status');
export const capacity = slot('energies.Electric.extension.electric.battery.load.capacity');

/** Slots of one energy. `measure` counts fuel burnt, cL, or shows the energy left in the battery, Wh. */
export const energies = {
  Fuel: {
    level: slot('energies.Fuel.level'),
    autonomy: slot('energies.Fuel.autonomy'),
    subType: slot('energies.Fuel.subType'),
    measure: slot('energies.Fuel.extension.fuel.consumptions.total'),
  },
  Electric: {
    level: slot('energies.Electric.level'),
    autonomy: slot('energies.Electric.autonomy'),
    subType: slot('energies.Electric.subType'),
    measure: slot('energies.Electric.extension.electric.battery.load.residual'),
  },
} as const;

/** Slots that show movement and distance of the car. */
export const waySlots: readonly Slot[] = [speed, moving, mileage, latitude, longitude];
/** Slots that show the switch state of the car. */
export const powerSlots: readonly Slot[] = [ignition, powertrain, thermicSpeed, electricSpeed];
/** Slots for which even an unchanged reading is relevant. */
export const watched: readonly Slot[] = [
  ...powerSlots,
  ...waySlots,
  ...Object.values(energies).flatMap(({ level, autonomy, measure }) => [level, autonomy, measure]),
];
