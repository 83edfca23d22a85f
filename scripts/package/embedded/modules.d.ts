/** Files that `program.ts` adds to the executable, each in brotli, unpacked on use. */
declare module 'vigie:carried' {
  /** The brotli of a file: the asset of that name, or in a Node without assets the base64 itself. */
  export function bytesOf(packed: string): Uint8Array;
}
declare module 'vigie:files' {
  /** Arguments of `bytesOf`, by the path below the folder of the executable. */
  export const files: Readonly<Record<string, string>>;
}
declare module 'vigie:koffi' {
  export const packed: string;
}
declare module 'vigie:serialport' {
  export const packed: string;
}
