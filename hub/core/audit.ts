/** Audit trail: check of its chain of digests. */

export interface AuditReport {
  /** Number of checked entries. */
  readonly entries: number;
  /** Number of entries of forgotten cars. */
  readonly erased: number;
  /** Position and digest of the last correct entry. The position is 0 if the trail is empty. */
  readonly seq: number;
  readonly digest: string;
  /** The first entry at which the chain is broken, with the reason. Omitted if the chain is intact. */
  readonly broken?: string;
}
