/** Names of commands for people: kinds, orders, and questions before what cannot be taken back at once. */

const titles: Readonly<Record<string, string>> = {
  ThermalPreconditioning: 'Preconditioning',
  ElectricBatteryChargingRequest: 'Charging',
  WakeUp: 'Wake up',
};

const labels: Readonly<Record<string, string>> = {
  'Horn on': 'Sound the horn',
  'Horn off': 'Stop the horn',
  'Lights on': 'Flash the lights',
  'Lights off': 'Stop the lights',
  'ElectricBatteryChargingRequest on': 'Start charging',
  'ElectricBatteryChargingRequest off': 'Stop charging',
  'ElectricBatteryChargingRequest never': 'Delete the programs',
  'ThermalPreconditioning on': 'Start',
  'ThermalPreconditioning off': 'Stop',
  'Immobilization on': 'Immobilize',
  'Immobilization off': 'Allow the start',
  'Stolen on': 'Declare stolen',
  'Stolen off': 'Declare found',
  'WakeUp wakeup': 'Wake up',
};

const questions: Readonly<Record<string, string>> = {
  'Doors unlock': 'Anybody beside the car can open it then. Unlock the doors?',
  'Immobilization on': 'The engine does not start again until somebody allows it. Immobilize the car?',
  'Stolen on': 'The car sends its position in spite of the driver’s privacy. Declare it stolen?',
};

export function titleOf(type: string): string {
  return titles[type] ?? type;
}

export function labelOf(type: string, order: string): string {
  return labels[`${type} ${order}`] ?? order.slice(0, 1).toUpperCase() + order.slice(1);
}

export function isRisky(type: string, order: string): boolean {
  return `${type} ${order}` in questions;
}

export function questionOf(type: string, order: string): string {
  return questions[`${type} ${order}`] ?? '';
}
