import { reasonOf, VigieError } from '../../protocol/errors.ts';

/** Advice for the usual causes, by the system's error code. */
const advice: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such device or file; is it plugged in?',
  EACCES: 'no permission; give the user the group of the device, which is dialout for serial lines',
  EBUSY: 'another program has it open',
  ECONNREFUSED: 'no program listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not answer',
};

/** Returns the error of a line that could not be opened; `where` is its address. */
export function unopened(where: string, cause: unknown): VigieError {
  const code = (cause as { readonly code?: unknown } | undefined)?.code;
  const reason = (typeof code === 'string' ? advice[code] : undefined) ?? reasonOf(cause);
  return new VigieError('input.unreadable', `cannot be opened: ${reason}`, { where, cause });
}
