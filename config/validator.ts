/** One error of a generated validator (Ajv's ErrorObject). */
export interface SchemaFault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Present if the fault is in the name of a field. */
  readonly propertyName?: string;
}

/** Generated validator. Returns false if `data` has faults, and then stores the faults in `errors`. */
export interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaFault[] | null;
}
