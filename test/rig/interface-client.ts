/**
 * A simple generated client, like those of swagger-codegen and openapi-generator: one model per schema, whose
 * constructor reads each declared member into its type and rejects unknown ones. It reads both documents from which
 * clients are generated: the project's, and the published one.
 */

/** JSON Schema, as far as either document uses it. */
export interface ModelSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ModelSchema>>;
  readonly required?: readonly string[];
  readonly items?: ModelSchema;
  readonly allOf?: readonly ModelSchema[];
  readonly anyOf?: readonly ModelSchema[];
}

/** An object as a program sees it: dates are Date objects, and only declared members exist. */
export type Model = Readonly<Record<string, unknown>>;

interface Members {
  readonly properties: Readonly<Record<string, ModelSchema>>;
  readonly required: ReadonlySet<string>;
}

export class GeneratedClient {
  /** Members that no model has, e.g. `Trip.note`. A client that rejects them cannot read the answer. */
  readonly unknown = new Set<string>();
  /** Values that could not be read, with their positions. */
  readonly faults: string[] = [];
  readonly #resolve: (reference: string) => ModelSchema;
  readonly #members = new Map<ModelSchema, Members>();

  constructor(resolve: (reference: string) => ModelSchema) {
    this.#resolve = resolve;
  }

  /** Reads an answer, and adds its errors to {@link faults} and {@link unknown}. */
  read(schema: ModelSchema, value: unknown, where: string): unknown {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
      // Positions are relative to a model, not to the answer, so that an error in a model is reported once.
      return this.read(this.#resolve(schema.$ref), value, name);
    }
    if (value === null) return this.#fault(where, 'is null');
    if (this.#isObject(schema)) return this.#object(schema, value, where);
    const [only, ...others] = [...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
    // All parts describe the same scalar value, so the first one defines its type.
    if (only !== undefined && others.length >= 0 && schema.type === undefined) return this.read(only, value, where);
    if (schema.enum !== undefined && !schema.enum.includes(value)) return this.#fault(where, `has no value ${value}`);
    switch (schema.type) {
      case 'array':
        if (!Array.isArray(value)) return this.#fault(where, 'is not a list');
        return value.map((item) => this.read(schema.items ?? {}, item, `${where}[]`));
      case 'integer':
        return Number.isSafeInteger(value) ? value : this.#fault(where, `${value} is not an integer`);
      case 'number':
        return Number.isFinite(value) ? value : this.#fault(where, `${value} is not a number`);
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#fault(where, `${value} is not a flag`);
      case 'string':
        return this.#text(schema, value, where);
      default:
        return value;
    }
  }

  #text({ format }: ModelSchema, value: unknown, where: string): unknown {
    if (typeof value !== 'string') return this.#fault(where, `${value} is not text`);
    if (format !== 'date-time') return value;
    const date = new Date(value);
    // A program would write the date in the same form, so nothing was lost.
    if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(value.slice(0, 19))) {
      return this.#fault(where, `${value} is no moment in UTC`);
    }
    return date;
  }

  #object(schema: ModelSchema, value: unknown, where: string): Model | undefined {
    if (typeof value !== 'object' || Array.isArray(value)) return this.#fault(where, 'is not an object');
    const { properties, required } = this.#membersOf(schema);
    for (const name of required)
      if (!Object.hasOwn(value as object, name)) this.#fault(`${where}.${name}`, 'is missing');
    const model: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value as object)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own === undefined) this.unknown.add(`${where}.${name}`);
      else model[name] = this.read(own, member, `${where}.${name}`);
    }
    return model;
  }

  #isObject(schema: ModelSchema): boolean {
    return Object.keys(this.#membersOf(schema).properties).length > 0;
  }

  /** Members of a model, including inherited ones. */
  #membersOf(schema: ModelSchema): Members {
    const known = this.#members.get(schema);
    if (known !== undefined) return known;
    const inherited = (schema.allOf ?? []).map((part) =>
      this.#membersOf(part.$ref === undefined ? part : this.#resolve(part.$ref)),
    );
    const members = {
      properties: Object.assign({}, ...inherited.map(({ properties }) => properties), schema.properties),
      required: new Set([...inherited.flatMap(({ required }) => [...required]), ...(schema.required ?? [])]),
    };
    this.#members.set(schema, members);
    return members;
  }

  #fault(where: string, what: string): undefined {
    this.faults.push(`${where} ${what}`);
  }
}

/** Members beyond the published models that clients must accept, with the reason. */
export const additions: Readonly<Record<string, string>> = {
  'Adas.createdAt': 'as it is told in fact',
  'AlarmDetails._links': 'every resource has links',
  'AlarmDetails.createdAt': 'every record tells when it was made',
  'Alert.tid': 'in the list of what the interface asks for',
  'Collision.lateralChange': 'measured by the car',
  'Collision.longitudinalChange': 'measured by the car',
  'Collision.position': 'known to the car',
  'Collision.tid': 'in the list of what the interface asks for',
  'DrivingBehavior.updatedAt': 'deprecated twin of createdAt',
  'IgnitionBase.createdAt': 'required there, but not described',
  'Position.properties.gap': 'known to the car, of waypoints',
  'Position.properties.speed': 'known to the car, of waypoints',
  'RemoteCallbackSubscribe.retryPolicy.retryDelay': 'as it was sent',
  'RemoteCallbackSubscribe.retryPolicy.retryNumber': 'as it was sent',
  'Status.adas': 'on both lines when known',
  'Status.autonomy': 'in the list of what the interface asks for',
  'Status.transmission': 'on both lines when known',
  'Status.vehicleOdometer': 'in the list of what the interface asks for',
  'Status.wipingBlades': 'on both lines when known',
  'Stolen._links.waypoints': 'leads to an operation',
  'Stolen.origin': 'known to the car',
  'Transmission.createdAt': 'every object of Status tells when it was read',
  'Trip._links.telemetry': 'leads to an operation',
  'Trip.distanceSource': 'known to the car',
  'User._embedded.vehicles': 'the published name has a capital letter that is not told in fact',
  'User._links.callbacks': 'leads to an operation',
  'UserCallback._links.monitors': 'leads to an operation',
  'UserCallback._links.remotes': 'leads to an operation',
  'Vehicle._links.capabilities': 'leads to an operation',
  'Vehicle._links.stolen': 'leads to an operation',
  'VehicleCapabilities._links': 'every resource has links',
  'VehicleItem._links.alarms': 'leads to an operation',
  'VehicleItem._links.capabilities': 'leads to an operation',
  'VehicleItem._links.stolen': 'leads to an operation',
};
