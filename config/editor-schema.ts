/** JSON Schema files with which editors complete and check the files that people write. */
import { alertTypes } from '../protocol/schema/alert-types.ts';
import { slotByPath } from '../protocol/slots.ts';
import { configurationSchema } from './configuration-schema.ts';
import { hubSchema } from './hub-schema.ts';
import { profileSchema } from './profile-schema.ts';

/** The JSON Schema dialect that YAML editors support; the schemas use nothing newer. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** Returns the schema of profile.yaml. Lists the Status paths, so that editors complete them too. */
export function profileEditorSchema(): string {
  const paths = [...slotByPath.values()].filter((slot) => slot.kind !== 'value').map((slot) => slot.path);
  const { alerts, constants, status, telemetry, ...others } = profileSchema.properties;
  const properties = {
    ...others,
    alerts: { ...alerts, propertyNames: { enum: alertTypes } },
    constants: { ...constants, propertyNames: { enum: paths } },
    status: { ...status, propertyNames: { enum: paths } },
    telemetry: { ...telemetry, propertyNames: { enum: ['default', ...slotByPath.keys()] } },
  };
  return text({ $schema: DIALECT, title: 'Vigie vehicle profile', ...profileSchema, properties });
}

/** Returns the schema of vigie.yaml. */
export function configurationEditorSchema(): string {
  return text({ $schema: DIALECT, title: 'Vigie configuration', ...configurationSchema });
}

/** Returns the schema of hub.yaml. */
export function hubEditorSchema(): string {
  return text({ $schema: DIALECT, title: 'Vigie hub', ...hubSchema });
}

/** Serializes a schema without `x-expected`, which editors do not use. */
function text(schema: object): string {
  return `${JSON.stringify(schema, (key, value) => (key === 'x-expected' ? undefined : value), 2)}\n`;
}
