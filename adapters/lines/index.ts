export { lineTo, readLineAddress } from './address.ts';
export { fileLine } from './file.ts';
export { serialLine } from './serial.ts';
export { tcpLine } from './tcp.ts';
