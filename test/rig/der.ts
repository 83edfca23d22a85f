/** Values of ASN.1 in DER (ITU-T X.690): tag, length, contents. */

export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  // 8.1.3: one byte below 128, else the number of length bytes, followed by those bytes.
  const long = length.toString(16).padStart(length > 0xff ? 4 : 2, '0');
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 + long.length / 2, ...Buffer.from(long, 'hex')];
  return Buffer.concat([Uint8Array.from(head), ...contents]);
}

export const sequence = (...items: readonly Uint8Array[]): Uint8Array => der(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Uint8Array => der(0x31, ...items);
/** `[tag] EXPLICIT` */
export const explicit = (tag: number, item: Uint8Array): Uint8Array => der(0xa0 + tag, item);
export const utf8 = (text: string): Uint8Array => der(0x0c, Buffer.from(text));
export const octets = (bytes: Uint8Array): Uint8Array => der(0x04, bytes);
/** A bit string of whole bytes. */
export const bits = (bytes: Uint8Array): Uint8Array => der(0x03, Uint8Array.of(0), bytes);
export const yes: Uint8Array = der(0x01, Uint8Array.of(0xff));

/** A non-negative number, most significant byte first. */
export function integer(bytes: Uint8Array): Uint8Array {
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(0), bytes);
}

/** UTC time before 2050, to the second. */
export function utcTime(at: number): Uint8Array {
  const digits = new Date(at).toISOString().replaceAll(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

/** An object identifier, e.g. `2.5.4.3`. */
export function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const groups = [first * 40 + second, ...rest].flatMap((number) => {
    const digits = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Uint8Array.from(groups));
}
