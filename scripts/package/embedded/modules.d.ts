/** Files that `program.ts` adds to the executable, each compressed with brotli and decompressed on use. */
declare module 'vigie:carried' {
  /**
   * Returns the brotli data of a file, from the asset of that name, or in a Node without assets from the base64 text
   * itself.
   */
  export function bytesOf(packed: string): Uint8Array;
}
declare module 'vigie:files' {
  /** Arguments of `bytesOf`, by path below the folder of the executable. */
  export const files: Readonly<Record<string, string>>;
}
declare module 'vigie:koffi' {
  export const packed: string;
}
declare module 'vigie:serialport' {
  export const packed: string;
}
