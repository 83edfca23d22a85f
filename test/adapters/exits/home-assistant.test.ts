/** Discovery messages for all values of Status, checked as the published pages of Home Assistant describe them. */
import { describe, expect, test } from 'vitest';
import { discoveryOf, type HomeAssistantOptions } from '../../../adapters/exits/home-assistant.ts';
import { remoteKinds } from '../../../protocol/remote/table.ts';
import { slots } from '../../../protocol/slots.ts';
import { languages } from '../../../protocol/words/languages.ts';
import { dictionaryOf } from '../../../protocol/words/table.ts';
import { discoveryFaults } from './discovery-checker.ts';

type Entity = Readonly<Record<string, unknown>>;

function commandsOf(entity: Entity): readonly unknown[] {
  return [entity['command_topic'], entity['mode_command_topic']].filter((topic) => topic !== undefined);
}

function describeCar(more: Partial<HomeAssistantOptions> = {}, paths = slots.map(({ path }) => path)) {
  const options: HomeAssistantOptions = {
    ...{ vin: 'VF30A00000B000042', title: 'Car of Anna', version: '1.2.3' },
    ...{ discovery: 'homeassistant', prefix: 'vigie/plain', words: dictionaryOf('en'), may: () => true },
    ...{ reports: ['alert', 'event'], announced: {} },
    ...more,
  };
  const { topic, text, retain } = discoveryOf(
    options,
    slots.filter(({ path }) => paths.includes(path)),
  );
  const { components, ...shared } = JSON.parse(text) as { readonly components: Readonly<Record<string, Entity>> };
  return { topic, text, retain, components, shared };
}

describe('the discovery message', () => {
  test.each(languages)('of a car with every value and every command keeps to the published form, in %s', (language) => {
    const { topic, text, retain, components } = describeCar({ words: dictionaryOf(language) });
    expect(discoveryFaults(topic, text)).toEqual([]);
    expect(retain).toBe(true);
    const platforms = new Set(Object.values(components).map(({ platform }) => platform));
    expect(platforms).toEqual(
      new Set(['sensor', 'binary_sensor', 'device_tracker', 'lock', 'switch', 'climate', 'button', 'event']),
    );
  });

  test('names every value in the language, and gives no two entities of a platform the same name', () => {
    for (const language of languages) {
      const { components } = describeCar({ words: dictionaryOf(language) });
      const names = Object.values(components).map(({ platform, name }) => `${platform} ${name}`);
      expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
      expect(names.filter((name) => /[a-z]\.[a-z]/.test(name))).toEqual([]);
    }
  });

  test('has an entity for every path, except for structures and what the tracker shows', () => {
    const { components } = describeCar();
    const missing = slots.filter(({ path }) => components[path.replaceAll('.', '_')] === undefined);
    expect(missing.filter(({ kind }) => kind !== 'value').map(({ path }) => path)).toEqual([
      'lastPosition.longitude',
      'lastPosition.latitude',
    ]);
  });

  test('has an event entity for alerts and one for events of monitors, if the exit sends them', () => {
    const { components } = describeCar();
    expect(components['report_alert']).toMatchObject({
      platform: 'event',
      state_topic: 'vigie/plain/VF30A00000B000042/records/alert',
      event_types: ['alert'],
    });
    expect(components['report_event']).toMatchObject({
      state_topic: 'vigie/plain/VF30A00000B000042/events',
      event_types: ['event'],
    });
    expect(Object.keys(describeCar({ reports: [] }).components).filter((id) => id.startsWith('report_'))).toEqual([]);
  });

  test('an entity of an earlier message that is gone keeps only its platform, which removes it', () => {
    const announced = { kinetic_speed: 'sensor', odometer_mileage: 'sensor', control_doors: 'lock' };
    const { topic, text, components } = describeCar({ announced, may: () => false }, ['kinetic.speed']);
    expect(discoveryFaults(topic, text)).toEqual([]);
    expect(components['odometer_mileage']).toEqual({ platform: 'sensor' });
    expect(components['control_doors']).toEqual({ platform: 'lock' });
    expect(components['kinetic_speed']).toHaveProperty('state_topic');
  });

  test('of a car without commands has no entity that sends any', () => {
    const { components } = describeCar({ may: () => false });
    expect(Object.values(components).flatMap(commandsOf)).toEqual([]);
  });

  test('offers exactly the kinds of commands that are allowed', () => {
    for (const { type, words } of remoteKinds) {
      const { components } = describeCar({ may: (kind) => kind === type });
      const topics = new Set(Object.values(components).flatMap(commandsOf));
      // A destination has no word.
      expect(topics).toEqual(new Set(type === 'Navigation' ? [] : [`vigie/plain/VF30A00000B000042/set/${words.verb}`]));
    }
  });

  test('of a car that does not show the effect of a command has buttons in place of a lock or a switch', () => {
    const { components } = describeCar({ may: (type) => type === 'Doors' }, ['kinetic.speed']);
    expect(components['doors_lock']).toMatchObject({ platform: 'button', payload_press: 'lock' });
    expect(components['doors_unlock']).toMatchObject({ platform: 'button', payload_press: 'unlock' });
    expect(components['control_doors']).toBeUndefined();
  });

  test('preconditioning is a climate that shows the mode of the car and sends the words of the command', () => {
    const topic = 'vigie/plain/VF30A00000B000042';
    expect(describeCar().components['control_precondition']).toMatchObject({
      platform: 'climate',
      modes: ['off', 'heat_cool'],
      mode_command_topic: `${topic}/set/precondition`,
      mode_command_template: "{{ 'off' if value == 'off' else 'on' }}",
      mode_state_topic: `${topic}/preconditioning/airConditioning/status`,
      mode_state_template: "{{ 'heat_cool' if value == 'Enabled' else 'off' if value else 'None' }}",
    });
  });

  test('shows the car as available while it sleeps, and as unavailable after a lost connection', () => {
    expect(describeCar().shared).toMatchObject({
      availability_topic: 'vigie/plain/VF30A00000B000042/presence',
      availability_template: "{{ 'offline' if value == 'offline' else 'online' }}",
    });
  });
});
