/** Offsets of the members of the C structures that recvmmsg(2) uses, by pointer size. Little-endian. */

export type PointerSize = 4 | 8;

/** Offsets and sizes in bytes. */
export interface StructLayout {
  readonly pointerSize: PointerSize;
  /**
   * `struct mmsghdr`: a `struct msghdr` and the length of the received message.
   *
   *     64 bits:  0 name  8 namelen  16 iov  24 iovlen  32 control  40 controllen  48 flags  56 len  64
   *     32 bits:  0 name  4 namelen   8 iov  12 iovlen  16 control  20 controllen  24 flags  28 len  32
   */
  readonly mmsghdr: {
    readonly iov: number;
    readonly iovlen: number;
    readonly control: number;
    readonly controllen: number;
    readonly flags: number;
    readonly len: number;
    readonly size: number;
  };
  /** `struct iovec`: address and length. */
  readonly iovec: { readonly base: number; readonly len: number; readonly size: number };
  /** `struct cmsghdr`: length (with header), level, type; `size` is the offset of the data (CMSG_DATA). */
  readonly cmsghdr: { readonly len: number; readonly level: number; readonly type: number; readonly size: number };
  /** Offset of the nanoseconds in a `struct timespec` of two `long`. In `struct __kernel_timespec` it is always 8. */
  readonly oldNanoseconds: number;
}

const layouts: Readonly<Record<PointerSize, StructLayout>> = {
  8: {
    pointerSize: 8,
    mmsghdr: { iov: 16, iovlen: 24, control: 32, controllen: 40, flags: 48, len: 56, size: 64 },
    iovec: { base: 0, len: 8, size: 16 },
    cmsghdr: { len: 0, level: 8, type: 12, size: 16 },
    oldNanoseconds: 8,
  },
  4: {
    pointerSize: 4,
    mmsghdr: { iov: 8, iovlen: 12, control: 16, controllen: 20, flags: 24, len: 28, size: 32 },
    iovec: { base: 0, len: 4, size: 8 },
    cmsghdr: { len: 0, level: 4, type: 8, size: 12 },
    oldNanoseconds: 4,
  },
};

export function layoutFor(pointerSize: PointerSize): StructLayout {
  return layouts[pointerSize];
}

/** CMSG_ALIGN: rounds up to a multiple of a `long`. */
export function cmsgAlign(layout: StructLayout, length: number): number {
  return (length + layout.pointerSize - 1) & ~(layout.pointerSize - 1);
}

/** CMSG_SPACE: returns the size of a control message with `length` bytes of data. */
export function cmsgSpace(layout: StructLayout, length: number): number {
  return cmsgAlign(layout, layout.cmsghdr.size) + cmsgAlign(layout, length);
}
