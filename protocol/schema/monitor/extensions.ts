/** Contents of an event in addition to its values: MonitorParameter.extendedEventParam of both lines. */

/** The order is that of the wire: append only. */
export const extensionTypes = [
  'vehicle.doorsState',
  'vehicle.status',
  'vehicle.maintenance',
  'vehicle.position',
  'vehicle.telemetry',
  'vehicle.alerts',
  'vehicle.collisions',
  'vehicle.trip',
  'vehicle.stolen',
  'vehicle.alarm',
] as const;
export type ExtensionType = (typeof extensionTypes)[number];

/** Sections of telemetry (interface 3.19.2 TelemetryEnum) and the objects of Status that they contain; append only. */
export const telemetrySections: Readonly<Record<string, readonly string[]>> = {
  environment: ['environment'],
  privacy: ['privacy'],
  vehicle: [
    'adas',
    'battery',
    'doorsState',
    'energies',
    'engines',
    'ignition',
    'kinetic',
    'lightingSystem',
    'odometer',
    'powertrain',
    'safety',
    'transmission',
    'drivingBehavior',
    'alarm',
    'wipingBlades',
  ],
  'vehicle.adas': ['adas'],
  'vehicle.battery': ['battery'],
  'vehicle.doorsState': ['doorsState'],
  'vehicle.energies': ['energies'],
  'vehicle.engines': ['engines'],
  'vehicle.ignition': ['ignition'],
  'vehicle.lighting': ['lightingSystem'],
  'vehicle.lightingSystem': ['lightingSystem'],
  'vehicle.safety': ['safety'],
  'vehicle.transmission': ['transmission'],
  'vehicle.drivingBehavior': ['drivingBehavior'],
  'vehicle.alarm.status': ['alarm.status'],
  'vehicle.alarm.trigger': ['alarm.trigger'],
  'vehicle.wipingBlades': ['wipingBlades'],
};

export const extensionPattern = '^vehicle\\.[a-zA-Z.]+$';

/** One requested extension. */
export interface Extension {
  readonly type: ExtensionType;
  /** A section of telemetry. If omitted, all sections. */
  readonly section?: string;
}

const PREFIX = 'vehicle.telemetry.';

/** Returns the extension for a name in any of its spellings, or undefined if there is none. */
export function extensionOf(spelled: string): Extension | undefined {
  const full = spelled.startsWith('vehicle.') ? spelled : `vehicle.${spelled}`;
  const name = full.replace(/^vehicle\.doorsStates$/, 'vehicle.doorsState');
  const type = extensionTypes.find((one) => one === name);
  if (type !== undefined) return { type };
  if (!name.startsWith(PREFIX)) return undefined;
  const section = name.slice(PREFIX.length);
  const found = [section, `vehicle.${section}`].find((one) => Object.hasOwn(telemetrySections, one));
  return found === undefined ? undefined : { type: 'vehicle.telemetry', section: found };
}

/** Returns the name in its stored form. */
export function extensionName({ type, section }: Extension): string {
  return section === undefined ? type : `${type}.${section}`;
}
