/** The published interface as validators, made of what is published without the project's schemas. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Side } from '../../../../protocol/interface/operation.ts';
import { factsOf, type Model, releases } from '../../../protocol/interface/published/facts.ts';

/** Operations of the user line that are not among the published ones; the published models have their answers. */
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

/** The answers of one line, as published. */
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

  /** Operations that answer with a body, e.g. `GET /fleets/{fid}`. */
  get operations(): readonly string[] {
    return [...this.#answers.keys()];
  }

  /** The name of the model of an operation's answer. */
  answerOf(operation: string): string | undefined {
    return this.#answers.get(operation);
  }

  /** What is wrong with the answer of an operation; empty: it is as published. Entries of lists are not told apart. */
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
 * @param described only members that are described can be required: the release notes say that the vehicle which is
 *   read by its VIN has no `createdAt`, although it is required of it
 */
function schemaOf(model: Model, described: boolean): object {
  const { format, pattern, required, properties, items, allOf, oneOf, default: _, ...plain } = model;
  const within = (inner: Model): object => schemaOf(inner, described);
  return {
    ...plain,
    ...(format === undefined ? {} : format === 'date-time' ? { format } : { pattern: format }),
    // The published pattern of the names of triggers has quotes in it, which no name has.
    ...(pattern === undefined ? {} : { pattern: pattern.startsWith('"') ? '^[a-zA-Z]+[._-]?[0-9]*$' : pattern }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, within(inner)])),
    }),
    ...(required && { required: described ? required.filter((name) => name in (properties ?? {})) : required }),
    ...(items && { items: within(items) }),
    ...(allOf && { allOf: allOf.map(within) }),
    // Both branches of the published oneOf are strings, of which every variable matches two.
    ...(oneOf && { anyOf: oneOf.map(within) }),
  };
}
