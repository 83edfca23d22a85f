/** What `program.ts` puts into the executable beside the program: brotli in base64, unpacked when it is asked for. */
declare module 'vigie:files' {
  /** By the path below the folder in which the executable lies. */
  export const files: Readonly<Record<string, string>>;
}
declare module 'vigie:koffi' {
  export const packed: string;
}
declare module 'vigie:serialport' {
  export const packed: string;
}
