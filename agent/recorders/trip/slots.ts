/** Slots that the trip recorder uses. */
import { type Slot, slotAt } from '../../../protocol/slots.ts';

export const speed = slotAt('kinetic.speed');
export const moving = slotAt('kinetic.moving');
export const mileage = slotAt('odometer.mileage');
export const latitude = slotAt('lastPosition.latitude');
export const longitude = slotAt('lastPosition.longitude');
export const ignition = slotAt('ignition.type');
export const powertrain = slotAt('powertrain.status');
export const thermicSpeed = slotAt('engines.Thermic.speed');
export const electricSpeed = slotAt('engines.Electric.speed');
export const drivingMode = slotAt('drivingBehavior.mode');
export const privacy = slotAt('privacy.state');
export const chargingStatus = slotAt('energies.Electric.extension.electric.charging.status');
export const capacity = slotAt('energies.Electric.extension.electric.battery.load.capacity');

/** Slots of one energy. `measure` counts fuel burnt in cL, or shows the energy left in the battery in Wh. */
export const energies = {
  Fuel: {
    level: slotAt('energies.Fuel.level'),
    autonomy: slotAt('energies.Fuel.autonomy'),
    subType: slotAt('energies.Fuel.subType'),
    measure: slotAt('energies.Fuel.extension.fuel.consumptions.total'),
  },
  Electric: {
    level: slotAt('energies.Electric.level'),
    autonomy: slotAt('energies.Electric.autonomy'),
    subType: slotAt('energies.Electric.subType'),
    measure: slotAt('energies.Electric.extension.electric.battery.load.residual'),
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
