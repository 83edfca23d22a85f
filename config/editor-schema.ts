/** JSON Schema files that let an editor complete and check what people write. */
import { alertTypes } from '../protocol/schema/alert-types.ts';
import { slotByPath } from '../protocol/slots.ts';
import { configurationSchema } from './configuration-schema.ts';
import { hubSchema } from './hub-schema.ts';
import { profileSchema } from './profile-schema.ts';

/** The dialect that editors for YAML understand; the schemas use nothing newer. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** Schema of profile.yaml; the paths of Status are listed, so that they are completed too. */
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

/** Schema of vigie.yaml. */
export function configurationEditorSchema(): string {
  return text({ $schema: DIALECT, title: 'Vigie configuration', ...configurationSchema });
}

/** Schema of hub.yaml. */
export function hubEditorSchema(): string {
  return text({ $schema: DIALECT, title: 'Vigie hub', ...hubSchema });
}

/** The ends of this project's own sentences are of no use to an editor. */
function text(schema: object): string {
  return `${JSON.stringify(schema, (key, value) => (key === 'x-expected' ? undefined : value), 2)}\n`;
}
