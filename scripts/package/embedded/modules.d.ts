/** What `program.ts` puts into the executable beside the program, each file in brotli, unpacked when it is asked for. */
declare module 'vigie:carried' {
  /** The brotli of a file: the asset of that name, or in a Node without assets the base64 itself. */
  export function bytesOf(packed: string): Uint8Array;
}
declare module 'vigie:files' {
  /** What `bytesOf` takes, by the path below the folder in which the executable lies. */
  export const files: Readonly<Record<string, string>>;
}
declare module 'vigie:koffi' {
  export const packed: string;
}
declare module 'vigie:serialport' {
  export const packed: string;
}
