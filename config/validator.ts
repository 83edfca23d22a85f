/** One error of a generated validator (Ajv's ErrorObject). */
export interface SchemaFault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Set when the fault is in a member's name. */
  readonly propertyName?: string;
}

/** A generated validator: false when `data` has faults, which it then leaves in `errors`. */
export interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaFault[] | null;
}
