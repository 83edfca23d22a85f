/**
 * Finds the objects of a BLF file or of an unpacked container, in pieces that may be cut anywhere. The
 * layout is that of Vector's public binlog header. Each object begins with
 *
 *     0  'LOBJ'   4  header size (16 bit)   6  header version   8  object size (32 bit)   12  object type
 *
 * and is followed by 0 to 3 bytes of padding, depending on its type.
 */

const signature = 0x4a42_4f4c;
const headerSize = 16;

/** Largest size in bytes of an object that is kept in memory, and of an object that is skipped. */
export const largestObject = 16 * 1024 * 1024;

export interface ObjectVisitor {
  /** Returns the largest size in bytes of objects of this type that are read; 0 if the type is skipped. */
  limit(type: number): number;
  /** Handles an object. `size` is less than the declared size if the file ends within the object. */
  visit(view: DataView, at: number, size: number, type: number): void;
  /** Called for an object that is skipped. */
  passed(type: number): void;
  /** True if there is no room for the content of another object: stop before the next. */
  readonly full: boolean;
  /** @param reason the message without the details of this fault */
  fault(message: string, reason?: string): void;
}

export class ObjectScanner {
  private readonly visitor: ObjectVisitor;
  /** Number of bytes still to skip. */
  private skip = 0;
  /** True after invalid bytes between objects, which are reported only once until the next object. */
  private lost = false;
  /** Number of bytes since the last object; up to 3 are padding. */
  private between = 0;

  constructor(visitor: ObjectVisitor) {
    this.visitor = visitor;
  }

  /** @returns the position of the first byte that the next call needs again, with the bytes that follow. */
  scan(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    const { visitor } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let pos = from;
    while (!visitor.full) {
      const skipped = Math.min(this.skip, end - pos);
      this.skip -= skipped;
      pos += skipped;
      pos = this.findSignature(view, pos, end);
      if (end - pos < headerSize) {
        if (last && end - pos > 3) visitor.fault('the file ends within an object');
        return last ? end : pos;
      }
      const size = view.getUint32(pos + 8, true);
      const type = view.getUint32(pos + 12, true);
      const limit = visitor.limit(type);
      if (size < headerSize || size > (limit === 0 ? largestObject : limit)) {
        visitor.fault(
          `an object of type ${type} claims a size of ${size} bytes`,
          'an object claims an impossible size',
        );
        this.lost = true;
        pos += 4;
      } else if (limit === 0) {
        visitor.passed(type);
        this.skip = size;
      } else if (end - pos >= size) {
        visitor.visit(view, pos, size, type);
        pos += size;
      } else if (!last) {
        return pos;
      } else {
        visitor.fault('the file ends within an object');
        visitor.visit(view, pos, end - pos, type);
        return end;
      }
    }
    return pos;
  }

  /** Returns the position of the next signature, or of the last bytes that could begin a signature. */
  private findSignature(view: DataView, from: number, end: number): number {
    let pos = from;
    while (pos + 4 <= end && view.getUint32(pos, true) !== signature) {
      if (this.between === 4 && !this.lost) {
        this.visitor.fault('bytes between objects that belong to none');
        this.lost = true;
      }
      this.between++;
      pos++;
    }
    if (pos + 4 <= end) {
      this.lost = false;
      this.between = 0;
    }
    return pos;
  }
}
