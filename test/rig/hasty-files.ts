/** The machine's file system without fsync: data in the page cache survives the process. */
import { type FileSystem, nodeFileSystem, type OpenFile } from '../../adapters/store/files.ts';

export const hastyFiles: FileSystem = {
  ...nodeFileSystem,
  open(path, mode): OpenFile {
    const file = nodeFileSystem.open(path, mode);
    return {
      path: file.path,
      size: () => file.size(),
      read: (into, position) => file.read(into, position),
      write: (data, position) => file.write(data, position),
      truncate: (length) => file.truncate(length),
      sync: async () => undefined,
      syncInPlace: () => undefined,
      close: () => file.close(),
    };
  },
  syncDirectory: async () => undefined,
};
