/** Link types of captured packets (tcpdump.org/linktypes), and the one of a pcap file. */

/** LINKTYPE_CAN_SOCKETCAN, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2. */
export const SOCKETCAN = 227;
export const SLL = 113;
export const SLL2 = 276;
/** Link types with packets that can be CAN frames. */
export const canLinkTypes: ReadonlySet<number> = new Set([SOCKETCAN, SLL, SLL2]);

/** Link types of other captures. */
const others: Readonly<Record<number, string>> = {
  1: 'Ethernet',
  101: 'IP',
  105: 'Wi-Fi',
  127: 'Wi-Fi',
  189: 'USB',
  210: 'FlexRay',
  212: 'LIN',
  220: 'USB',
  249: 'USB',
};

export function linkTypeName(type: number): string {
  const name = others[type];
  return name === undefined ? `link type ${type}` : `${name} (link type ${type})`;
}

/** First bytes of a pcap file: byte order and time resolution. */
const magics: Readonly<Record<string, { readonly little: boolean; readonly perSecond: number }>> = {
  '\xa1\xb2\xc3\xd4': { little: false, perSecond: 1e6 },
  '\xd4\xc3\xb2\xa1': { little: true, perSecond: 1e6 },
  '\xa1\xb2\x3c\x4d': { little: false, perSecond: 1e9 },
  '\x4d\x3c\xb2\xa1': { little: true, perSecond: 1e9 },
};

interface PcapHeader {
  readonly little: boolean;
  readonly perSecond: number;
  /** Link type; undefined if the file ends before it. */
  readonly linkType: number | undefined;
}

/** Parses the pcap header (draft-ietf-opsawg-pcap §4) in a file's first bytes, as Latin-1. Undefined if absent. */
export function pcapHeader(text: string): PcapHeader | undefined {
  const magic = magics[text.slice(0, 4)];
  if (magic === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = [...text.slice(20, 24)].map((character) => character.charCodeAt(0));
  // The upper bits describe frame check sequences.
  const linkType = magic.little ? (b << 8) | a : (c << 8) | d;
  return { ...magic, linkType: text.length < 24 ? undefined : linkType };
}
