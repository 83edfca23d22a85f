export { type LineAddress, lineTo, readLineAddress } from './address.ts';
export { type FileLineOptions, fileLine } from './file.ts';
export { type FlowControl, type SerialLineOptions, serialLine } from './serial.ts';
export { type TcpLineOptions, tcpLine } from './tcp.ts';
