/** One error of a generated validator (Ajv's ErrorObject). */
export interface BodyFault {
  /** JSON pointer (RFC 6901). */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Generated validator. Returns false if `data` has a fault, and then stores it in `errors`. */
export interface BodyValidator {
  (data: unknown): boolean;
  errors?: readonly BodyFault[] | null;
}
