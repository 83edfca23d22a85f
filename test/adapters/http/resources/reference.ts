/** Validators for the published interface, made without the project's schemas. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Side } from '../../../../protocol/interface/operation.ts';
import { factsOf, type Model, releases } from '../../../protocol/interface/published/facts.ts';

/** Operations missing from the published user line, with the published models of their answers. */
const omitted: Readonly<Record<string, string>> = {
  'GET /user/vehicles/{id}/trips': 'Trips',
  'GET /user/vehicles/{id}/trips/{tid}': 'Trip',
  'GET /user/vehicles/{id}/trips/{tid}/alerts': 'Alerts',
  'GET /user/vehicles/{id}/trips/{tid}/alerts/{aid}': 'Alert',
  'GET /user/vehicles/{id}/trips/{tid}/collisions': 'Collisions',
  'GET /user/vehicles/{id}/trips/{tid}/collisions/{cid}': 'Collision',
  'GET /user/vehicles/{id}/trips/{tid}/wayPoints': 'WayPoints',
  'GET /user/vehicles/{id}/trips/{tid}/telemetry': 'Telemetries',
};

/** The published answers of one line. */
export class Reference {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #answers = new Map<string, string>();
  readonly #validators = new Map<string, ValidateFunction>();
  /** The published models as JSON Schema, by name. */
  readonly definitions: Readonly<Record<string, object>>;

  constructor(side: Side) {
    const { operations, models } = factsOf(releases[side]);
    this.definitions = Object.fromEntries(
      Object.entries(models).map(([name, model]) => [name, schemaOf(model, name === 'VehicleCapabilities')]),
    );
    this.#ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    this.#ajv.addSchema({ $id: 'reference', $defs: this.definitions });
    for (const { method, path, schema } of operations) {
      if (schema !== undefined) this.#answers.set(`${method} ${path}`, schema);
    }
    if (side === 'user') for (const [operation, name] of Object.entries(omitted)) this.#answers.set(operation, name);
  }

  /** Operations with an answer body, e.g. `GET /fleets/{fid}`. */
  get operations(): readonly string[] {
    return [...this.#answers.keys()];
  }

  /** Name of the answer model of an operation. */
  answerOf(operation: string): string | undefined {
    return this.#answers.get(operation);
  }

  /** Deviations of an answer from the published model, without the indexes of list entries. */
  faults(operation: string, body: unknown): string[] {
    const name = this.#answers.get(operation);
    if (name === undefined) return [`the interface has no ${operation} that answers with a body`];
    const validate = this.validator(name);
    if (validate(body)) return [];
    const faults = (validate.errors ?? []).map(({ instancePath, message }) => {
      return `${name}${instancePath.replace(/\/\d+/g, '/*')} ${message}`;
    });
    return [...new Set(faults)];
  }

  /** The validator of one published model. */
  validator(name: string): ValidateFunction {
    const validate = this.#validators.get(name) ?? this.#ajv.compile({ $ref: `reference#/$defs/${name}` });
    this.#validators.set(name, validate);
    return validate;
  }
}

/**
 * JSON Schema of a model.
 * @param described if true, only described members are required: by the release notes, a vehicle read by its VIN lacks
 *   `createdAt`, although the model requires it
 */
function schemaOf(model: Model, described: boolean): object {
  const { format, pattern, required, properties, items, allOf, oneOf, default: _, ...plain } = model;
  const within = (inner: Model): object => schemaOf(inner, described);
  return {
    ...plain,
    ...(format === undefined ? {} : format === 'date-time' ? { format } : { pattern: format }),
    // The published pattern for trigger names contains quotes, which no name has.
    ...(pattern === undefined ? {} : { pattern: pattern.startsWith('"') ? '^[a-zA-Z]+[._-]?[0-9]*$' : pattern }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, within(inner)])),
    }),
    ...(required && { required: described ? required.filter((name) => name in (properties ?? {})) : required }),
    ...(items && { items: within(items) }),
    ...(allOf && { allOf: allOf.map(within) }),
    // In the published oneOf both branches are strings, and every variable matches both.
    ...(oneOf && { anyOf: oneOf.map(within) }),
  };
}
