/** One error of a generated validator (Ajv's ErrorObject). */
export interface BodyFault {
  /** JSON pointer (RFC 6901). */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A generated validator: false when `data` has a fault, which it then leaves in `errors`. */
export interface BodyValidator {
  (data: unknown): boolean;
  errors?: readonly BodyFault[] | null;
}
