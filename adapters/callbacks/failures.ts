/** Converts the error of a failed request into a receipt for the notification queue. */
import type { Receipt } from '../../agent/callbacks/notifier.ts';
import { withCertificateFault } from '../../protocol/certificate-faults.ts';

/** Error codes if the car or its resolver has no network. They do not show that the receiver is at fault. */
const offline = new Set(['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'EAI_AGAIN']);

export function failure(error: unknown): Receipt {
  const codes = codesOf(error);
  const text = error instanceof Error && error.message !== '' ? error.message : (codes[0] ?? 'the request failed');
  const reason = withCertificateFault(text, error, { server: 'the receiver', authority: 'callbacks.ca' });
  const out = codes.length > 0 && codes.every((code) => offline.has(code));
  return { outcome: out ? 'offline' : 'failed', reason };
}

/** Returns the codes of an error; an AggregateError contains one for each address that was tried. */
function codesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (Array.isArray(errors)) return errors.flatMap(codesOf);
  return typeof code === 'string' ? [code] : [];
}
