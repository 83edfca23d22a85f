/**
 * Checks a discovery message as the pages of Home Assistant on MQTT describe it (MQTT integration, and the pages of the
 * platforms sensor, binary_sensor, lock, switch, climate, button, event, device_tracker). It is written from those pages; Home Assistant
 * itself does not run here.
 */

/** Options that each platform has, besides those of every entity. */
const platformOptions: Readonly<
  Record<string, { readonly required: readonly string[]; readonly more: readonly string[] }>
> = {
  sensor: {
    required: ['state_topic'],
    more: ['device_class', 'state_class', 'unit_of_measurement', 'suggested_display_precision', 'options'],
  },
  binary_sensor: { required: ['state_topic'], more: ['device_class', 'payload_on', 'payload_off'] },
  lock: {
    required: ['command_topic'],
    more: ['state_topic', 'payload_lock', 'payload_unlock', 'state_locked', 'state_unlocked', 'optimistic'],
  },
  switch: {
    required: ['command_topic'],
    more: ['state_topic', 'payload_on', 'payload_off', 'state_on', 'state_off', 'optimistic', 'device_class'],
  },
  climate: {
    required: ['mode_command_topic'],
    more: ['modes', 'mode_command_template', 'mode_state_topic', 'mode_state_template', 'optimistic'],
  },
  button: { required: ['command_topic'], more: ['payload_press', 'device_class', 'optimistic'] },
  event: { required: ['state_topic'], more: ['event_types', 'device_class'] },
  device_tracker: { required: ['json_attributes_topic'], more: ['source_type'] },
};
const everyEntity = ['platform', 'unique_id', 'name', 'entity_category', 'value_template', 'json_attributes_topic'];

/** Units that a sensor of a device class may have. */
const sensorUnits: Readonly<Record<string, readonly string[]>> = {
  battery: ['%'],
  distance: ['km', 'm', 'cm', 'mm', 'mi', 'nmi', 'yd', 'ft', 'in'],
  temperature: ['°C', '°F', 'K'],
  speed: ['km/h', 'm/s', 'mph', 'kn', 'ft/s'],
  energy_storage: ['Wh', 'kWh', 'MWh', 'J', 'kJ', 'MJ'],
  energy_distance: ['kWh/100km', 'Wh/km', 'mi/kWh', 'km/kWh'],
};
const binaryClasses = ['door', 'window', 'plug', 'moving', 'safety', 'light', 'lock', 'battery_charging', 'problem'];

type Message = Readonly<Record<string, unknown>>;

/** Returns the faults of a discovery message on this topic. */
export function discoveryFaults(topic: string, text: string): string[] {
  const faults: string[] = [];
  if (!/^[^#+]+\/device\/[a-zA-Z0-9_-]+\/config$/.test(topic)) faults.push(`topic ${topic}`);
  const message = JSON.parse(text) as Message;
  const { device, origin, components, ...shared } = message as Message & { components: Record<string, Message> };
  if ((device as Message)?.['identifiers'] === undefined) faults.push('device without identifiers');
  if (typeof (origin as Message)?.['name'] !== 'string') faults.push('origin without name');
  const known = ['qos', 'encoding', 'state_topic', 'command_topic', ...availabilityOptions];
  faults.push(...availabilityFaults(shared));
  for (const name of Object.keys(shared)) if (!known.includes(name)) faults.push(`shared option ${name}`);
  const ids = Object.values(components).flatMap((one) => one['unique_id'] ?? []);
  if (new Set(ids).size < ids.length) faults.push('two entities have one unique_id');
  for (const [id, component] of Object.entries(components)) {
    faults.push(...entityFaults(component).map((fault) => `${id}: ${fault}`));
  }
  return faults;
}

/** Options of MQTT availability: either a list with a mode, or one topic. */
const availabilityOptions = ['availability', 'availability_mode', 'availability_topic', 'availability_template'];

function availabilityFaults({ availability = [], availability_mode: mode = 'latest', ...others }: Message): string[] {
  const faults = ['all', 'any', 'latest'].includes(String(mode)) ? [] : [`availability_mode ${mode}`];
  const list = availability as readonly Message[];
  if (list.length > 0 && others['availability_topic'] !== undefined) faults.push('availability list and topic');
  for (const { topic, ...more } of list) {
    if (typeof topic !== 'string') faults.push('availability without topic');
    faults.push(
      ...Object.keys(more)
        .filter((one) => one !== 'value_template')
        .map((one) => `availability ${one}`),
    );
  }
  return faults;
}

function entityFaults(entity: Message): string[] {
  const faults: string[] = [];
  const { platform, unique_id: id, name, entity_category: category } = entity;
  const options = platformOptions[String(platform)];
  if (options === undefined) return [`platform ${platform}`];
  // “Device discovery payload”: a component with its platform only is removed.
  if (Object.keys(entity).length === 1) return [];
  if (typeof id !== 'string' || id === '') faults.push('no unique_id');
  // Null: the entity has the name of the device.
  if (name !== null && (typeof name !== 'string' || name === '')) faults.push(`name ${name}`);
  if (category !== undefined && category !== 'diagnostic' && category !== 'config') faults.push(`category ${category}`);
  for (const needed of options.required) if (typeof entity[needed] !== 'string') faults.push(`no ${needed}`);
  for (const option of Object.keys(entity)) {
    if (!everyEntity.includes(option) && !options.more.includes(option) && !options.required.includes(option)) {
      faults.push(`${platform} has no option ${option}`);
    }
  }
  for (const [option, value] of Object.entries(entity)) {
    if (option.endsWith('_topic') && /[#+]/.test(String(value))) faults.push(`${option} has a wildcard`);
  }
  const types: unknown = entity['event_types'] ?? [];
  if ((platform === 'event') !== (Array.isArray(types) && types.length > 0)) faults.push(`event types ${types}`);
  const modes: unknown = entity['modes'] ?? [];
  const known = ['auto', 'off', 'cool', 'heat', 'heat_cool', 'dry', 'fan_only'];
  if (!Array.isArray(modes) || modes.some((mode) => !known.includes(mode))) faults.push(`modes ${modes}`);
  return [...faults, ...classFaults(entity)];
}

function classFaults({ platform, ...entity }: Message): string[] {
  const { device_class: kind, unit_of_measurement: unit, state_class: state, options } = entity;
  if (platform === 'binary_sensor') {
    return kind === undefined || binaryClasses.includes(String(kind)) ? [] : [`device class ${kind}`];
  }
  if (platform !== 'sensor') return [];
  const faults: string[] = [];
  if (state !== undefined && !['measurement', 'total', 'total_increasing'].includes(String(state))) {
    faults.push(`state class ${state}`);
  }
  if (kind === 'enum') {
    if (!Array.isArray(options) || options.length === 0) faults.push('an enum without options');
    if (unit !== undefined || state !== undefined) faults.push('an enum with a unit or a state class');
  } else if (kind === 'timestamp') {
    if (unit !== undefined || state !== undefined) faults.push('a timestamp with a unit or a state class');
  } else if (kind !== undefined && !sensorUnits[String(kind)]?.includes(String(unit))) {
    faults.push(`device class ${kind} with the unit ${unit}`);
  }
  if (kind !== 'enum' && options !== undefined) faults.push('options without the device class enum');
  return faults;
}
