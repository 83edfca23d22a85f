/** Removes secrets from log lines. */

const HIDDEN = '[hidden]';
/** Names of fields whose values are always secret. */
const SECRET_NAME =
  /pass(word|phrase|wd)?$|secret|token|authori[sz]ation|credential|cookie|private_?key|api_?key|^pin$/i;
/** Secrets that have a recognisable form, and their replacements. */
const SECRET_TEXTS: readonly [RegExp, string][] = [
  // User information in a URL (RFC 3986 §3.2.1).
  [/([a-z][a-z0-9+.-]{0,15}:\/\/)[^\s/@?#]{1,256}@/gi, `$1${HIDDEN}@`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  // A JSON Web Token (RFC 7519): three parts, the first a JSON object.
  [/\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g, HIDDEN],
  [/([?&](?:access_token|token|key|secret|password)=)[^&\s]+/gi, `$1${HIDDEN}`],
];
/** Limits of depth and length: fields are small, and larger values are not worth logging. */
const DEEPEST = 4;
const LONGEST = 4096;

/** Returns a copy of the fields without secrets. Does not change its argument. */
export function redacted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, SECRET_NAME.test(name) ? hide(value) : shown(value, 1)]),
  );
}

/** Returns a string without secrets that have a recognisable form. */
export function redactedText(text: string): string {
  const bounded = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return SECRET_TEXTS.reduce((shorter, [pattern, instead]) => shorter.replace(pattern, instead), bounded);
}

function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : HIDDEN;
}

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Error) return redactedText(value.message);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (depth >= DEEPEST) return '…';
  if (Array.isArray(value)) return value.map((item) => shown(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAME.test(name) ? hide(member) : shown(member, depth + 1),
    ]),
  );
}
