export type { BusSocket, BusSocketOptions, CanKernel } from './bus-socket.ts';
export { filtersFor, type IdentifierFilter, passes } from './filters.ts';
export { SocketCan, type SocketCanOptions } from './source.ts';
