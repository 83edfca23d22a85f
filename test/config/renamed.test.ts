import { expect, test } from 'vitest';
import { configurationSchema } from '../../config/configuration-schema.ts';
import { profileSchema } from '../../config/profile-schema.ts';
import { presentName } from '../../config/renamed.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
}

const configuration = configurationSchema as unknown as Schema;
const alerts = (profileSchema as unknown as Schema).properties?.['alerts'];

test.each([
  ['/mqtt', 'others', 'fallbacks', configuration.properties?.['mqtt']],
  ['/http', 'body', 'maxBodyBytes', configuration.properties?.['http']],
  ['/callbacks', 'waiting', 'queueLimit', configuration.properties?.['callbacks']],
  ['/callbacks', 'plain', 'allowHttp', configuration.properties?.['callbacks']],
  ['/power', 'linger', 'standbyFor', configuration.properties?.['power']],
  ['/power', 'lowLinger', 'lowBatteryStandbyFor', configuration.properties?.['power']],
  ['/power', 'silence', 'busSilentAfter', configuration.properties?.['power']],
  ['/power', 'waking', 'wakeTimeout', configuration.properties?.['power']],
  ['/alerts/FuelLevelLow', 'on', 'onAfter', alerts?.additionalProperties],
  ['/alerts/FuelLevelLow', 'off', 'offAfter', alerts?.additionalProperties],
])('in %s the former member %s is called %s now, which the schema has', (place, former, present, schema) => {
  expect(presentName(place, former)).toBe(present);
  expect(schema?.properties).toHaveProperty(present);
  expect(schema?.properties).not.toHaveProperty(former);
});

test('a name has no other name in another place', () => {
  expect(presentName('/outbox', 'linger')).toBeUndefined();
  expect(presentName('/power', 'constructor')).toBeUndefined();
});
